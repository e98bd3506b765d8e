"""Language models: prompts whose ids are the model's own, answers of several pieces, GGUF files."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from raw_checkpoints import byte_level
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from attnx.formulas import class_output
from attnx.plugin import DataError, Example, Source, TaskData, UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_erasure.deletion import logits_without_each
from attnx_transformers.causal import HfCausal
from attnx_transformers.checkpoints import Checkpoint, quiet
from attnx_transformers.language import gguf_files
from attnx_transformers.options import CheckpointOptions, HfCausalOptions

FAMILIES = ["gpt2", "llama", "mistral", "qwen2", "gemma", "gpt_neox", "opt"]
CHAT = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)
TRIMS = CHAT.replace("message['content']", "message['content'] | trim")
LABELS = ("dull film", "bold film", "dull")


@pytest.fixture(scope="module")
def of_family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny language model of that architecture, with a chat template."""
    root = tmp_path_factory.mktemp("families")

    def find(name: str) -> Path:
        return root / name if (root / name).exists() else _save(name, root / name)

    return find


def _save(name: str, folder: Path, template: str | None = CHAT) -> Path:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    made = byte_level()
    sizes: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"ffn_dim": 48, "word_embed_proj_dim": 32} if name == "opt" else {"intermediate_size": 48}
    sizes |= (
        {"num_key_value_heads": 2, "head_dim": 8} if name in ("llama", "mistral", "qwen2", "gemma") else {}
    )
    if name == "gpt2":
        sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4}
    torch.manual_seed(0)
    make: Any = CONFIG_MAPPING[name]
    config = make(
        vocab_size=made.get_vocab_size(),
        max_position_embeddings=160,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=1,
        initializer_range=0.3,
        init_std=0.3,
        **sizes,
    )
    cut = PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=160, pad_token="<pad>")
    cut.chat_template = template
    with quiet():
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        cut.save_pretrained(folder)
    return folder


def _task(labels: tuple[str, ...] = LABELS) -> TaskData:
    texts = ("A dull film.", "the best of films", " one  two")
    examples = tuple(
        Example(f"t{i}", tuple(text.split()), i % len(labels), text=text, starts=_starts(text))
        for i, text in enumerate(texts)
    )
    return TaskData(examples, examples, examples, labels)


def _starts(text: str) -> tuple[int, ...]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append(at)
        at += len(word)
    return tuple(found)


def _model(folder: Path, task: TaskData | None = None, **options: Any) -> HfCausal:
    return HfCausal(task or _task(), HfCausalOptions(checkpoint=str(folder), **options)).eval()


def _logits(model: HfCausal, examples: Any) -> Any:
    with evaluating(model):
        return trace_of(model, model.encode(examples)).logits


def _by_hand(folder: Path, prompt: list[int], answers: list[list[int]]) -> torch.Tensor:
    """[C] the sum of the log-probabilities of the pieces of each answer, each from a whole pass."""
    stock = AutoModelForCausalLM.from_pretrained(folder).eval()
    found = []
    for answer in answers:
        ids = torch.tensor([[*prompt, *answer]])
        with torch.no_grad():
            log_p = stock(ids).logits[0].log_softmax(-1)
        found.append(sum(log_p[len(prompt) - 1 + j, piece] for j, piece in enumerate(answer)))
    return torch.stack(found)  # type: ignore[arg-type]


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_of_several_pieces_have_the_probability_of_their_sequence(
    family: str, of_family: Callable[[str], Path]
) -> None:
    folder = of_family(family)
    model, task = _model(folder, template="{text} It is"), _task()
    ours = _logits(model, task.test)  # of different lengths, so that some are padded
    cut = AutoTokenizer.from_pretrained(folder)
    answers = [cut(f" {label}").input_ids for label in LABELS]
    assert min(map(len, answers)) > 1
    for row, example in enumerate(task.test):
        expected = _by_hand(folder, cut(f"{example.text} It is").input_ids, answers)
        torch.testing.assert_close(ours[row], expected, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_states_are_shared_for_answers_of_several_pieces(
    family: str, of_family: Callable[[str], Path]
) -> None:
    model = _model(of_family(family), template="It is {text} so")
    assert "fast-logits" in model.provides
    with torch.no_grad():
        trace = trace_of(model, model.encode(_task().test))
        ours = logits_without_each(model, trace)
        model.provides = tuple(word for word in model.provides if word != "fast-logits")
        torch.testing.assert_close(ours, logits_without_each(model, trace), rtol=1e-3, atol=1e-3)


def test_the_length_of_an_answer_is_handled_as_asked(of_family: Callable[[str], Path]) -> None:
    folder = of_family("llama")
    whole = _model(folder)
    total, test = _logits(whole, _task().test), _task().test
    counts = torch.tensor([len(answer) for answer in whole.answers.ids])
    torch.testing.assert_close(
        _logits(_model(folder, length="mean"), test), total / counts, atol=1e-4, rtol=1e-4
    )
    assert any("pieces" in notice and "favours short" in notice for notice in whole.notices)
    first = _model(folder, _task(("dull", "bold")), length="first")
    assert first.answers.single
    assert not first.whole


def test_gradients_reach_the_text_through_every_piece_of_an_answer(of_family: Callable[[str], Path]) -> None:
    model = _model(of_family("qwen2")).double()
    batch = model.encode(_task().test[:1])
    x = model.embed(batch).detach().requires_grad_(True)
    target = torch.tensor([1])
    (gradient,) = torch.autograd.grad(
        class_output(model.run(batch, x).logits, target, "probability").sum(), x
    )
    step = torch.randn(x.shape, generator=torch.Generator().manual_seed(1), dtype=x.dtype) * 1e-4
    with torch.no_grad():
        above, below = (
            class_output(model.run(batch, x + sign * step).logits, target, "probability") for sign in (1, -1)
        )
    torch.testing.assert_close(
        (gradient * step).sum() * 2, (above - below)[0], rtol=2e-2, atol=0
    )  # softmax is in single precision


def test_calibration_subtracts_what_an_empty_text_gives(of_family: Callable[[str], Path]) -> None:
    folder = of_family("gpt2")
    options = {"template": "Film: {text}\\nIt is"}
    plain, calibrated = _model(folder, **options), _model(folder, **options, calibrate=True)
    cut = AutoTokenizer.from_pretrained(folder)
    empty = _by_hand(folder, cut("Film: \nIt is").input_ids, [cut(f" {label}").input_ids for label in LABELS])
    test = _task().test
    torch.testing.assert_close(_logits(calibrated, test), _logits(plain, test) - empty, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("template", [CHAT, TRIMS], ids=["as it is", "trimmed"])
def test_the_ids_of_a_chat_are_those_of_the_models_own_template(tmp_path: Path, template: str) -> None:
    folder = _save("llama", tmp_path / "chat", template)
    model = _model(folder, chat=True, system="Be brief.", template="{text}")
    cut = AutoTokenizer.from_pretrained(folder)
    batch = model.encode(_task().test)
    for row, example in enumerate(_task().test):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": example.text}]
        own = cut.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]
        ids = batch.inputs[row, :, :-1]
        assert ids[ids >= 0].tolist() == own
        columns = [batch.inputs[row, at, :-1] for at in batch.mask[row].nonzero()[:, 0]]
        words = [str(cut.decode(column[column >= 0].tolist())).strip() for column in columns]
        assert words == list(example.units)  # no piece of the template is on the mask


def test_the_answer_of_a_chat_begins_where_the_template_ends(of_family: Callable[[str], Path]) -> None:
    folder = of_family("llama")
    model = _model(folder, chat=True, template="{text}")
    cut = AutoTokenizer.from_pretrained(folder)
    assert str(cut.decode(list(model.answers.ids[0]))).strip() == "dull film"
    spaced = _model(folder, template="{text} It is")
    assert cut.decode(list(spaced.answers.ids[0])) == " dull film"


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({"length": "first"}, ("dull film", "dull"), "begin with the same piece.*length=sum"),
        ({}, ("dull", "dull"), "made of the same pieces"),
        ({"labels": ("dull", " ")}, ("a", "b"), "an answer is empty"),
        ({"labels": ("dull",)}, ("a", "b"), "give one word for each of a, b"),
    ],
)
def test_answers_that_cannot_be_told_apart_are_refused(
    options: Any, labels: Any, message: str, of_family: Callable[[str], Path]
) -> None:
    with pytest.raises(UsageError, match=message):
        _model(of_family("llama"), _task(labels), **options)


def test_a_tokenizer_without_chat_template_is_refused_where_one_is_asked(tmp_path: Path) -> None:
    folder = _save("llama", tmp_path / "plain", None)
    with pytest.raises(UsageError, match="has no chat template; leave out chat=true"):
        _model(folder, chat=True)


def test_a_system_message_needs_a_chat() -> None:
    with pytest.raises(ValueError, match="give chat=true too"):
        HfCausalOptions(checkpoint="x", system="Be brief.")


def test_a_prompt_longer_than_the_model_is_refused(of_family: Callable[[str], Path]) -> None:
    model = _model(of_family("llama"), template="film " * 200 + "{text} It is")
    with pytest.raises(
        DataError, match="leaves no space for its text: what is read with it takes all 160 pieces"
    ):
        model.encode(_task().test)


def test_a_sharded_checkpoint_gives_what_a_whole_one_gives(
    of_family: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = of_family("llama")
    with quiet():
        AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path, max_shard_size="20KB")
        AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    test = _task().test
    torch.testing.assert_close(_logits(_model(tmp_path), test), _logits(_model(folder), test))


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama as a GGUF file with 8-bit weights, written with the package of llama.cpp."""
    from tiny_gguf import write

    return write(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("named", ["file", "folder"])
def test_a_gguf_file_is_unpacked_and_measured_in_the_asked_precision(
    gguf: Path, named: str, dtype: Any
) -> None:
    model = _model(
        gguf if named == "file" else gguf.parent, _task(("dull", "bold")), dtype=dtype, length="first"
    )
    assert {str(parameter.dtype) for parameter in model.parameters()} == {f"torch.{dtype}"}
    assert {"attention", "layers", "reattend", "fast-logits"} <= set(model.provides)
    logits = _logits(model, _task().test)
    with quiet():
        stock: Any = AutoModelForCausalLM.from_pretrained(
            gguf.parent, gguf_file=gguf.name, dtype=torch.float32
        )
    cut = model.network.pieces.tokenizer
    for row, example in enumerate(_task().test):
        with torch.no_grad():
            expected = stock(torch.tensor([cut(f"{example.text} It is").input_ids])).logits[0, -1]
        found = expected[[answer[0] for answer in model.answers.ids]]
        torch.testing.assert_close(logits[row].float(), found, atol=1e-4, rtol=1e-4)


def test_reading_a_gguf_file_prints_nothing(gguf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Checkpoint.find(CheckpointOptions(checkpoint=str(gguf)), Source()).load("AutoModelForCausalLM")
    assert capfd.readouterr() == ("", "")


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        gguf_files.importlib.util, "find_spec", lambda name: None if name == "gguf" else find(name)
    )
    with pytest.raises(UsageError, match=r"reading it needs gguf: pip install 'attnx\[language\]'"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(gguf)), Source())


def test_several_gguf_files_in_a_folder_are_refused(tmp_path: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    with pytest.raises(DataError, match=r"has 2 GGUF files \(a.gguf, b.gguf\): name one of them"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(tmp_path)), Source())


def test_a_broken_gguf_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(DataError, match="cannot be loaded"):
        _model(tmp_path)


@pytest.mark.parametrize(
    ("key", "place", "value", "said"),
    [
        ("tokenizer.ggml.token_type", 4, 2**62, "it ends in the middle of a value"),  # a list without an end
        ("GGUF.kv_count", 0, 2**62, "cannot be loaded"),
        (
            "llama.block_count",
            3,
            2**31,
            "it asks for llama.block_count=2147483648; its weights have room for 20",
        ),
        (
            "llama.embedding_length",
            3,
            20_000,
            "it asks for llama.embedding_length=20000; its weights have room",
        ),
    ],
)
def test_a_gguf_file_that_asks_for_too_much_is_refused_before_anything_is_made(
    gguf: Path, tmp_path: Path, key: str, place: int, value: int, said: str
) -> None:
    from gguf import GGUFReader

    file = Path(shutil.copy(gguf, tmp_path))
    reader: Any = GGUFReader(file, "r+")
    reader.fields[key].parts[place][0] = value
    reader.data.flush()
    with pytest.raises(DataError, match=said):
        Checkpoint.find(CheckpointOptions(checkpoint=str(file)), Source())


def test_a_gguf_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"")
    with pytest.raises(DataError, match=r"no such file.*model\.gguf"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(tmp_path / "modle.gguf")), Source())


MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "a bold film"},
    {"role": "assistant", "content": "It is good."},
    {"role": "user", "content": "Judge this: {text}"},
]


def test_a_chat_of_several_messages_has_the_ids_of_the_models_own_template(tmp_path: Path) -> None:
    folder = _save("llama", tmp_path / "chat")
    cut = AutoTokenizer.from_pretrained(folder)
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(MESSAGES))
    begun = [*MESSAGES, {"role": "assistant", "content": "It is"}]
    for given, messages in ((str(file), MESSAGES), (MESSAGES, MESSAGES), (begun, begun)):
        model = _model(folder, messages=given)
        batch = model.encode(_task().test)
        for row, example in enumerate(_task().test):
            said = [
                one | {"content": one["content"].replace("{text}", example.text or "")} for one in messages
            ]
            own = cut.apply_chat_template(
                said, add_generation_prompt=messages is MESSAGES, continue_final_message=messages is begun,
                return_dict=True,
            )["input_ids"]  # fmt: skip
            ids = batch.inputs[row, :, :-1]
            assert ids[ids >= 0].tolist() == own
            assert int(batch.mask[row].sum()) == len(example.units)  # no word of another message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"messages": MESSAGES[:3]}, r"must hold \{text\} once"),
        ({"messages": MESSAGES, "chat": True}, "is the whole prompt; leave out template, chat and system"),
        ({"messages": "nowhere.json"}, "cannot read a list of messages from 'nowhere.json'"),
        ({"messages": [{"role": "teacher", "content": "{text}"}]}, "'system', 'user' or 'assistant'"),
    ],
)
def test_messages_that_make_no_prompt_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        HfCausalOptions(checkpoint="somewhere", **options)


@pytest.mark.parametrize("where", ["auto", "cpu"])
def test_layers_that_are_placed_by_accelerate_give_the_same(
    of_family: Callable[[str], Path], where: str
) -> None:
    folder, test = of_family("llama"), _task().test
    torch.testing.assert_close(_logits(_model(folder, device_map=where), test), _logits(_model(folder), test))


def test_layers_on_several_devices_stay_where_they_are(of_family: Callable[[str], Path]) -> None:
    model = _model(of_family("llama"))
    model.network.transformer.hf_device_map = {"model": 0, "lm_head": 1}
    assert model.double().network.transformer.dtype == torch.float32
    model.network.transformer.hf_device_map = {"": "cpu"}
    assert model.double().network.transformer.dtype == torch.float64
