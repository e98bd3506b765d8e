"""`attnx.check` and `attnx check` on objects of one's own."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner

import attnx
from attnx.cli.app import app
from attnx.host.cards import CAPABILITIES
from attnx.testing import ToyModel
from attnx.testing.toy import ToySoftmax

FILE = """
    import attnx
    from torch import nn

    class Net(nn.Module):
        def __init__(self, words=9, classes=2):
            super().__init__()
            self.embedding = nn.Embedding(words, 4)
            self.attention = nn.Sequential(nn.Linear(4, 1), nn.Softmax(dim=1))
            self.out = nn.Linear(4, classes)

        def forward(self, ids):
            states = self.embedding(ids)
            return self.out((self.attention(states) * states).sum(1))

    WORDS = {word: 2 + n for n, word in enumerate("abcdef")}
    model = attnx.wrap(Net(), inputs=WORDS, unknown=1, attention="attention")
    blind = attnx.wrap(Net)

    class Unbound:
        family = "shape"
        measures = (attnx.plugin.Measure("top", "none", (0, 1)),)

        def __call__(self, evidence):
            return evidence.explanation.values.abs().amax(1) + 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_net.py"
    path.write_text(dedent(FILE))
    return path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["check", *arguments])


def test_each_thing_a_wrapped_model_can_do_is_said_in_the_word_to_declare(file: Path) -> None:
    said = run(f"{file}:model")
    assert said.exit_code == 0
    assert f"reattend             yes: {CAPABILITIES['reattend']}" in said.stdout
    assert "hidden               no: no submodule was named: set hidden=NAME" in said.stdout
    declared = "('unseen-words', 'attention', 'reattend', 'gradient', 'linear-decoder', 'deletion')"
    assert said.stdout.splitlines()[-1] == f"provides = {declared}"


def test_a_file_is_checked_whole_and_a_broken_law_fails(file: Path) -> None:
    said = run(str(file))
    assert said.exit_code == 1
    names = [line.split()[0] for line in said.stdout.splitlines()]
    assert set(names) - {"provides"} == {"model", "blind", "Unbound"}
    assert "Unbound                      bounds               FAILED top is" in said.stdout


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("my_net.py:modl", 2, "Did you mean 'model'?"),
        ("nothing.py", 2, "File 'nothing.py' does not exist."),
        ("no_module_of_that_name:model", 2, "There is no module 'no_module_of_that_name' to check"),
        ("my_net.py:WORDS", 2, "'WORDS' is not a component"),
        ("nan.py:model", 3, "logits are not finite on a made-up text, 'b c d'"),
        ("broken.py", 3, "file broken.py failed: ZeroDivisionError"),
    ],
)
def test_a_mistake_is_one_line(
    place: str, code: int, words: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    Path("broken.py").write_text("1 / 0\n")
    Path("nan.py").write_text(file.read_text().replace("return self.out(", "return self.out(float('nan') * "))
    said = run(place)
    assert getattr(said.exception, "exit_code", None) == code
    assert words in str(said.exception)


def test_objects_and_classes_are_checked_as_what_they_are() -> None:
    (model,) = attnx.check(ToyModel()).components
    assert (model.kind, model.passed) == ("model", True)
    assert model.provides == ToyModel.provides
    assert attnx.check(ToySoftmax).components[0].kind == "projection"
    careless = attnx.check(lambda scores, mask: scores.masked_fill(~mask, -9e9).softmax(-1))
    assert [law.law for law in careless.failures] == ["empty-row"]
    assert not careless.passed
    with pytest.raises(attnx.UsageError, match="not a component"):
        attnx.check(3)


def test_a_name_and_a_place_are_checked_as_on_the_command_line(file: Path) -> None:
    assert [found.name for found in attnx.check("softmax").components] == ["softmax"]
    several = attnx.check(file)
    assert [found.name for found in several.components] == ["model", "blind", "Unbound"]
    assert [(law.component, law.law) for law in several.failures] == [("Unbound", "bounds")]
    assert str(several) == run(str(file)).stdout.rstrip("\n")
    assert attnx.check(f"{file}:model").passed


GUIDE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_the_metric_class_of_the_guide_is_checked_without_an_instance(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(import torch\n.*?class TopShare.*?)```", GUIDE, re.DOTALL)
    place = tmp_path / "top_share.py"
    place.write_text(block)
    said = run(str(place))
    assert said.exit_code == 0, said.exception
    assert "TopShare                     bounds               ok" in said.stdout


def test_a_class_that_takes_options_is_refused_and_its_instance_checked(tmp_path: Path) -> None:
    place = tmp_path / "sized.py"
    place.write_text(
        dedent("""
        from attnx.testing.toy import ToySoftmax

        class Sized(ToySoftmax):
            def __init__(self, size): self.size = size

        two = Sized(2)
    """)
    )
    assert "pass an instance instead" in str(run(f"{place}:Sized").exception)
    assert run(f"{place}:two").exit_code == 0
