"""`attnx data export`: what scores from elsewhere must fit."""

import json


def test_exported_units_and_ids_are_those_that_precomputed_scores_must_fit(cli, home, tmp_path):
    units, scores = tmp_path / "units.jsonl", tmp_path / "scores.jsonl"
    asked = "sdc-text:train=20,dev=10,test=12"
    code, out, err = cli("data", "export", asked, "--split", "test", "--out", str(units))
    assert (code, out, err) == (0, "", f"12 examples written: {units}\n")
    lines = [json.loads(line) for line in units.read_text().splitlines()]
    assert lines[0].keys() == {"id", "split", "units", "label", "rationale"}
    text = "".join(json.dumps({"id": x["id"], "scores": [1.0] * len(x["units"])}) + "\n" for x in lines)
    scores.write_text(text)
    run = ["evaluate", "--task", asked, "--train", "epochs=1", "--metric", "importance-entropy", "--json"]
    code, out, err = cli(*run, "--explanation", f"precomputed:file={scores}")
    assert (code, err) == (0, "")
    code, out, _ = cli("data", "export", asked, "--limit", "test=3")
    assert [json.loads(line)["split"] for line in out.splitlines()] == ["train"] * 20 + ["dev"] * 10 + [
        "test"
    ] * 3
    assert cli("data", "export", asked, "--split", "tset")[0] == 2


def test_a_file_with_a_comma_in_its_name_is_read(cli, home, tmp_path):
    path = tmp_path / 'films, "new".csv'
    path.write_text("text,label\n" + "a fine film,good\na dull film,bad\n" * 10)
    quoted = str(path).replace('"', '""')
    code, out, err = cli("data", "export", f'csv:file="{quoted}",seed=1')
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 20
    code, out, err = cli("data", "export", f"csv:file={tmp_path}/a,b.csv")
    assert (code, out) == (2, "")
    assert "A value with a comma must be in double quotes" in err
