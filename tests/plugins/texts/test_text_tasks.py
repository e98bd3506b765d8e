"""Text datasets: official layouts, choices of classes, and mistakes said in one line."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from text_loading import (
    CARDS,
    LONG,
    counts,
    error,
    everything,
    load,
    make,
    write,
    write_csv,
    write_jsonl,
)

from attnx.plugin import Card, Source, UsageError
from attnx.registry.datasets import Dataset
from attnx.registry.schema import read_registry
from attnx.request.spec import Options
from attnx_texts.dataset_task import DatasetTask
from attnx_texts.label_names import NEWSGROUPS

LOCAL_ONLY = ("sst", "agnews", "yelp", "amazon", "yahoo", "adr-tweets", "diabetes", "anemia")


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_every_option_is_described_and_has_a_default(card: Card) -> None:
    module, _, attribute = card.options.partition(":")
    options: type[Options] = getattr(import_module(module), attribute)
    assert all(field.description for field in options.model_fields.values())
    assert options() == options.model_validate(options().model_dump(mode="json"))


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_a_dataset_is_in_the_registry_with_its_layout(card: Card) -> None:
    task = make(card.name)
    if isinstance(task, DatasetTask):
        dataset = read_registry(()).datasets[task.dataset]
        assert dataset.layout
        assert bool(dataset.sources) == (card.name not in LOCAL_ONLY)


@pytest.mark.parametrize("name", LOCAL_ONLY)
def test_a_local_dataset_that_is_nowhere_says_what_a_folder_must_hold(name: str) -> None:
    message = error(name)
    assert "--data-dir" in message
    assert "train" in message
    assert "label" in message or "class" in message or "tree" in message


def reviews(folder: Path, count: int = 100) -> Path:
    """The table that the package carries: two datasets in label blocks."""
    rows: list[tuple[str, int, str]] = []
    for source in ("imdb", "rotten_tomatoes"):
        rows += [(f"{LONG} {source} number {i}", 2 * i // count, source) for i in range(count)]
    return write_csv(folder / "reviews.csv", [("text", "label", "source"), *rows])


class TestMovieReviews:
    def test_the_package_table_is_divided_80_10_10_and_the_report_says_so(self, tmp_path: Path) -> None:
        reviews(tmp_path / "imdb")
        data = load("imdb", tmp_path, drop_longest=False)
        assert [len(split) for split in (data.train, data.dev, data.test)] == [80, 10, 10]
        assert {example.id for example in everything(data)} == {f"row-{i:06d}" for i in range(100)}
        assert all(
            counts(data, split).keys() == {"negative", "positive"} for split in ("train", "dev", "test")
        )
        assert data.provenance["split"].startswith("80/10/10 % of the training half")
        assert all("imdb" in example.units for example in everything(data))

    def test_a_label_belongs_to_its_own_text(self, tmp_path: Path) -> None:
        reviews(tmp_path / "rotten-tomatoes")
        data = load("rotten-tomatoes", tmp_path, digits="keep")
        for example in everything(data):
            number = int(example.units[-1])
            assert example.label == 2 * number // 100
            assert example.id == f"row-{100 + number:06d}"

    def test_the_same_rows_are_in_a_split_whatever_is_dropped(self, tmp_path: Path) -> None:
        path = reviews(tmp_path / "imdb")
        path.write_text(path.read_text().replace(f"{LONG} imdb number 7", "short imdb number 7"))
        strict, loose = (load("imdb", tmp_path, min_length=n, drop_longest=False) for n in (7, 1))
        for split in ("train", "dev", "test"):
            ids = [{example.id for example in getattr(data, split)} for data in (strict, loose)]
            assert ids[0] <= ids[1]
        assert len(everything(strict)) < len(everything(loose)) == 100
        assert strict.provenance["dropped"].startswith("all ")

    def test_another_seed_divides_otherwise(self, tmp_path: Path) -> None:
        reviews(tmp_path / "imdb")
        first, again, other = (load("imdb", tmp_path, drop_longest=False, seed=s).test for s in (0, 0, 1))
        assert first == again != other

    def test_the_official_folders_have_both_halves(self, tmp_path: Path) -> None:
        for half, count in (("train", 20), ("test", 5)):
            for i in range(count):
                write(tmp_path / f"imdb/{half}/pos/{i}_9.txt", f"{LONG}<br /><br />Great {half} {i}")
                write(tmp_path / f"imdb/{half}/neg/{i}_2.txt", f"{LONG} poor")
            write(tmp_path / f"imdb/{half}/unsup/0_0.txt", LONG)
        data = load("imdb", tmp_path, drop_longest=False)
        assert [len(split) for split in (data.train, data.dev, data.test)] == [36, 4, 10]
        assert counts(data, "test") == {"negative": 5, "positive": 5}
        assert all(("great" in e.units) == (e.label == 1) and "br" not in e.units for e in everything(data))
        assert "dev is 10 %" in data.provenance["split"]

    def test_a_review_that_is_too_long_is_dropped_and_counted(self, tmp_path: Path) -> None:
        rows = [{"text": f"{LONG} " * (50 if i == 3 else 1), "label": i % 2} for i in range(8)]
        for split in ("train", "test"):
            write_jsonl(tmp_path / f"imdb/{split}.jsonl", rows)
        data = load("imdb", tmp_path, drop_longest=False)
        assert data.provenance["dropped"].startswith("train 1 of 8 (1 longer than 399 words)")
        assert "test-000003" not in {example.id for example in data.test}

    def test_a_folder_with_nothing_to_read_says_what_it_must_hold(self, tmp_path: Path) -> None:
        write(tmp_path / "imdb/readme.txt", "nothing")
        assert "it must hold" in error("imdb", tmp_path)


class TestNewsgroups:
    def folder(self, tmp_path: Path) -> Path:
        head = "Category\tText\nd\tstring\nclass\t\n\n"
        for split, count in (("train", 10), ("test", 4)):
            rows = (
                f"{group}\t{LONG} in {group.replace('.', ' ')}\n"
                for group in NEWSGROUPS
                for _ in range(count)
            )
            write(tmp_path / f"20-newsgroups/{split}.tab", head + "".join(rows))
        return tmp_path

    def test_baseball_against_hockey_unless_others_are_chosen(self, tmp_path: Path) -> None:
        data = load("20news", self.folder(tmp_path))
        assert data.label_names == ("rec.sport.baseball", "rec.sport.hockey")
        assert counts(data, "test") == {"rec.sport.baseball": 4, "rec.sport.hockey": 4}
        assert (len(data.train), len(data.dev)) == (18, 2)
        assert data.test[0].id == "test-000036"  # its row in the whole file
        assert all(data.label_names[e.label].rpartition(".")[2] in e.units for e in everything(data))

    def test_both_halves_together_are_divided_as_jain_and_wallace_did(self, tmp_path: Path) -> None:
        data = load("20news", self.folder(tmp_path), split="pooled")
        assert (len(data.train), len(data.dev), len(data.test)) == (21, 2, 5)  # a fifth of 28 is test
        assert data.provenance["split"] == "72/8/20 % of both halves at random, seed 0"
        assert len({e.id for e in everything(data)}) == 28
        rows = {int(e.id.removeprefix("row-")) for e in data.test}
        assert min(rows) < 200 <= max(rows)  # the files have 200 and 80: test is drawn from both

    def test_groups_are_chosen_by_full_or_short_names_or_all(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path)
        data = load("20news", folder, groups="space+rec.autos+crypt")
        assert data.label_names == ("sci.space", "rec.autos", "sci.crypt")
        assert load("20news", folder, groups="all").label_names == NEWSGROUPS
        assert load("20news", folder, groups=["autos", "space"]).label_names == ("rec.autos", "sci.space")

    @pytest.mark.parametrize(
        ("groups", "said"),
        [
            ("baseball+hocky", "there is no 'hocky'. Did you mean 'hockey'?"),
            ("rec.sport.basebal+hockey", "Did you mean 'rec.sport.baseball'?"),
            ("hardware+hockey", "may be comp.sys.ibm.pc.hardware or comp.sys.mac.hardware"),
            ("hockey", "give two or more different names"),
            ("hockey+hockey", "give two or more different names"),
        ],
    )
    def test_bad_groups_are_refused_before_anything_is_fetched(self, groups: str, said: str) -> None:
        with pytest.raises(UsageError) as caught:
            make("20news", groups=groups)
        assert said in str(caught.value)

    def test_raw_messages_lose_the_header_that_names_the_group(self, tmp_path: Path) -> None:
        for split, count in (("train", 10), ("test", 3)):
            for group in ("rec.sport.baseball", "rec.sport.hockey"):
                for i in range(count):
                    message = f"From: x@y.z\nNewsgroups: {group}\nSubject: Re: caf\xe9\n\n{LONG}\n".encode(
                        "latin-1"
                    )
                    path = tmp_path / f"20-newsgroups/20news-bydate-{split}/{group}/{i}"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(message)
        whole = Dataset(summary="Messages.", licence="none", files=("20news-bydate-*/*/*",))
        data = make("20news").load(Source(tmp_path, {"20-newsgroups": whole}))
        assert (len(data.train), len(data.dev), len(data.test)) == (18, 2, 6)
        assert data.test[0].units[:4] == ("re", ":", "café", "the")
        assert not any("newsgroups" in example.units for example in everything(data))


class TestZhang:
    def folder(self, tmp_path: Path, name: str, classes: int, columns: int = 2) -> Path:
        for split, count in (("train", 10), ("test", 4)):
            rows = [
                [y, f"{LONG} class {'abcdefghij'[y - 1]}", *["more\\ntext"] * (columns - 1)]
                for y in range(1, classes + 1)
                for _ in range(count)
            ]
            write_csv(tmp_path / name / f"{split}.csv", rows)
        return tmp_path

    def test_agnews_is_world_against_business_unless_others_are_chosen(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, "agnews", 4)
        data = load("agnews", folder)
        assert counts(data, "test") == {"World": 4, "Business": 4}
        assert {example.units[10] for example in everything(data) if example.label == 1} == {"c"}
        assert data.test[0].units[-2:] == ("more", "text")
        everyone = load("agnews", folder, classes="all")
        assert everyone.label_names == ("World", "Sports", "Business", "Sci/Tech")
        assert load("agnews", folder, classes="sports+world").label_names == ("Sports", "World")

    @pytest.mark.parametrize(
        ("name", "classes", "columns"), [("yelp", 5, 1), ("amazon", 5, 2), ("yahoo", 10, 3)]
    )
    def test_classes_from_one_become_labels_from_zero(
        self, tmp_path: Path, name: str, classes: int, columns: int
    ) -> None:
        data = load(name, self.folder(tmp_path, name, classes, columns))
        assert len(data.label_names) == classes
        assert (len(data.dev), len(data.test)) == (classes, 4 * classes)
        for example in everything(data):
            assert example.units[10] == "abcdefghij"[example.label]

    def test_polarity_files_have_two_classes(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, "yelp", 2)
        assert load("yelp", folder, variant="polarity").label_names == ("negative", "positive")
        assert "variant=polarity" in error("yelp", folder)

    def test_five_stars_are_too_many_for_polarity(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, "amazon", 5)
        assert "must be a class from 1 to 2" in error("amazon", folder, variant="polarity")


@pytest.mark.parametrize("name", ["adr-tweets", "diabetes", "anemia"])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_clinical_data_is_read_from_a_file_a_split(tmp_path: Path, name: str, kind: str) -> None:
    for split, count in (("train", 6), ("dev", 2), ("test", 4)):
        rows = [{"text": f"{LONG} {'yes' if i % 2 else 'no'}", "label": i % 2} for i in range(count)]
        path = tmp_path / name / f"{split}.{kind}"
        if kind == "jsonl":
            write_jsonl(path, rows)
        else:
            write_csv(path, [("text", "label"), *((row["text"], row["label"]) for row in rows)])
    data = load(name, tmp_path)
    assert [len(split) for split in (data.train, data.dev, data.test)] == [6, 2, 4]
    assert all((example.units[-1] == "yes") == (example.label == 1) for example in everything(data))
    assert "split" not in data.provenance


def test_a_label_that_a_dataset_does_not_have_is_named(tmp_path: Path) -> None:
    for split in ("train", "test"):
        write_jsonl(tmp_path / f"sst/{split}.jsonl", [{"text": LONG, "label": "postive"}])
    write_jsonl(tmp_path / "sst/dev.jsonl", [])
    message = error("sst", tmp_path)
    for split in ("train", "test"):
        write_jsonl(tmp_path / f"sst/{split}.jsonl", [{"text": LONG, "label": "1" * 5000}])
    assert "line 1: unknown label '111" in error("sst", tmp_path)
    assert (
        "line 1: unknown label 'postive'. Did you mean 'positive'? Labels: 0 negative, 1 positive." in message
    )
