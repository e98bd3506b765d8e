"""GGUF files, prompts and answers of anybody's: a language model that gives possible numbers, or one line."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fuzzing import damaged, fuzzed
from gguf import GGUFReader
from hypothesis import strategies as st
from pydantic import ValidationError
from tiny_checkpoints import save
from tiny_gguf import write

from attnx.errors import AttnxError, PluginError, UsageError
from attnx.plugin import Example, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.output_checks import check_trace
from attnx.run.plugin_errors import errors_of
from attnx_transformers.causal import HfCausal
from attnx_transformers.options import HfCausalOptions

FOLDER = tempfile.TemporaryDirectory()
TITLE = "model 'hf-causal'"
seeds = st.integers(0, 2**32)


@cache
def gguf() -> bytes:
    return write(Path(FOLDER.name) / "whole.gguf").read_bytes()


@cache
def header() -> int:
    """Where the weights of the file begin."""
    gguf()
    return int(GGUFReader(Path(FOLDER.name) / "whole.gguf").data_offset)


@cache
def folder() -> Path:
    return save("llama", Path(FOLDER.name) / "llama")


def task(*texts: str, labels: tuple[str, ...] = ("no", "yes")) -> TaskData:
    """A task of texts, each a single word to the task where it has no white space."""
    examples = []
    for number, text in enumerate(texts):
        words, starts, at = text.split(), [], 0
        for word in words:
            starts.append(text.index(word, at))
            at = starts[-1] + len(word)
        examples.append(
            Example(f"t{number}", tuple(words), number % len(labels), text=text, starts=tuple(starts))
        )
    made = tuple(examples)
    return TaskData(made, made, made, labels)


def check(options: dict[str, Any], data: TaskData, *, plugin_may_fail: bool = False) -> HfCausal | None:
    """The model if its outputs can be; None if it was refused in one line."""
    said: AttnxError
    try:
        asked = HfCausalOptions(**options)
    except ValidationError:  # which the command line says in its own words
        return None
    try:
        with errors_of(TITLE):
            model = HfCausal(data, asked).eval()
            with evaluating(model):
                check_trace(trace_of(model, model.encode(data.test)), model.provides, TITLE)
        return model
    except AttnxError as error:
        said = error
    assert str(said).strip()
    assert len(str(said)) < 2000
    assert plugin_may_fail or not isinstance(said, PluginError), said
    return None


@fuzzed(8, seeds, st.booleans())
def test_damaged_gguf_files(seed: int, whole: bool) -> None:
    file = Path(FOLDER.name) / "damaged.gguf"
    end = len(gguf()) if whole else header()
    file.write_bytes(damaged(gguf()[:end], seed) + gguf()[end:])
    check({"checkpoint": str(file), "length": "first"}, task("a dull film"), plugin_may_fail=True)


@fuzzed(
    10,
    seeds,
    st.sampled_from([0, 1, 2, 3, 7, 255, 2**16, 2**24, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1]),
)
def test_gguf_files_that_say_anything(seed: int, value: int) -> None:
    """One number of the header (a length, a type, a setting, a shape, a place) is another one."""
    file = Path(FOLDER.name) / "odd.gguf"
    file.write_bytes(gguf())
    reader, random_ = GGUFReader(file, "r+"), random.Random(seed)
    fields = [*reader.fields.values(), *(tensor.field for tensor in reader.tensors)]
    part: Any = random_.choice(random_.choice(fields).parts)
    part[random_.randrange(len(part))] = np.array(value, np.uint64).astype(part.dtype)
    reader.data.flush()  # type: ignore[attr-defined]
    check({"checkpoint": str(file), "length": "first"}, task("a dull film"), plugin_may_fail=True)


words = st.text(max_size=6) | st.sampled_from(
    ["yes", "no", "", " ", "yes no", "[PAD]", "[UNK]", "\n", "\ue000", "\ud800", "{text}", "é", "x" * 500]
)
parts = words | st.sampled_from(
    ["{text}", "{query}", "{", "}", "{{", "{0}", "\\n", "%s", "it is", "one " * 40]
)
templates = st.lists(parts, max_size=4).map("".join) | st.lists(parts, max_size=2).map(
    lambda around: "{text}".join(["", *around]) if len(around) < 2 else "{text}".join(around)
)
CHATS = [
    "{% for m in messages %}{{ m['content'] }} {% endfor %}it",
    "{% for m in messages %}{{ m['content'] | trim }}{% endfor %}",
    "{{ messages[0]['content'] | upper }}",
    "{{ messages[0]['content'] }}{{ messages[0]['content'] }}",
    "nothing of it",
    "",
    "{{ 1 / 0 }}",
    "{{ raise_exception('no') }}",
    "{% for",
    "{{ messages.__class__.__mro__ }}",
    "{{ messages[9].content }}",
    "{% for i in range(10 ** 9) %}a{% endfor %}",
]


@fuzzed(
    12,
    templates,
    st.lists(words, max_size=3),
    st.sampled_from(["sum", "mean", "first"]),
    st.booleans(),
    st.lists(words, min_size=1, max_size=3),
    examples=(
        ("{text}", [], "sum", True, ["one"]),  # nothing is left without the text
        ("{text}\ud800", [], "sum", False, ["one"]),  # half a character
    ),
)
def test_prompts_and_label_words_of_anybodys(
    template: str, labels: list[str], length: str, calibrate: bool, texts: list[str]
) -> None:
    readable = [text for text in texts if text.split() and text.isprintable()] or ["one two"]
    options = {"checkpoint": str(folder()), "template": template, "labels": tuple(labels)}
    check({**options, "length": length, "calibrate": calibrate}, task(*readable))


@fuzzed(8, st.sampled_from(CHATS) | st.text(max_size=12), parts, words, st.sampled_from(["one two", " one "]))
def test_chat_templates_of_anybodys(chat: str, after: str, system: str, text: str) -> None:
    copy = Path(tempfile.mkdtemp(dir=FOLDER.name)) / "copy"
    shutil.copytree(folder(), copy)
    config = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps(config | {"chat_template": chat}))
    options = {"checkpoint": str(copy), "chat": True, "template": "{text}" + after, "system": system}
    check(options, task(text))
    shutil.rmtree(copy.parent)


@cache
def model() -> HfCausal:
    return HfCausal(task("one two"), HfCausalOptions(checkpoint=str(folder()), labels=("no", "yes"))).eval()


@fuzzed(15, words, words, examples=(("yes", "\ud800"),))  # half a character
def test_answers_of_anybodys(first: str, second: str) -> None:
    """Every answer has pieces, and a log-probability of at most 0, or is refused."""
    pieces = []
    with contextlib.suppress(UsageError), errors_of(TITLE):
        pieces = [model().pieces_of(answer) for answer in (first, second)]
    if not pieces:
        return
    if not all(pieces):
        assert not (first.strip() and second.strip())
        return
    asked = model().answering(pieces)
    with evaluating(asked), torch.no_grad():
        logits = trace_of(asked, asked.encode(task("one two").test)).logits
    assert logits.isfinite().all()
