"""Where checkpoints come from, what is refused, and that nothing asks the network."""

from __future__ import annotations

import json
import shutil
import socket
import time
from logging import getLogger
from pathlib import Path
from typing import Any

import pytest
import torch
from test_models import make
from tiny_checkpoints import data, save
from transformers.models.bert import modeling_bert
from transformers.utils import logging as transformers_logging

from attnx.plugin import DataError, Source, UsageError
from attnx_transformers.checkpoints import Checkpoint, quiet
from attnx_transformers.options import CheckpointOptions

WORDS = "sdc-text:train=60,dev=30,test=20"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The addresses that somebody tried to reach."""
    tried: list[Any] = []

    def refuse(*address: Any, **_: Any) -> None:
        tried.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between attempts
    return tried


def test_a_folder_is_loaded_without_the_network(saved: Any, no_network: list[Any]) -> None:
    make("classifier", saved("classifier"))
    make("language-model", saved("language-model"))
    assert no_network == []


def test_a_name_on_the_hub_that_is_nowhere_is_one_line(no_network: list[Any]) -> None:
    options = CheckpointOptions(checkpoint="nobody/nothing-at-all")
    with pytest.raises(DataError, match=r"nothing-at-all could not be obtained: .*Give a folder"):
        Checkpoint.find(options, Source()).load("AutoTokenizer")
    assert no_network
    no_network.clear()
    with pytest.raises(DataError, match="not on this machine and ATTNX_OFFLINE is set"):
        Checkpoint.find(options, Source(offline=True)).load("AutoTokenizer")
    assert no_network == []


def test_a_folder_without_a_model_is_told_from_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no config\.json"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(tmp_path)), Source())
    with pytest.raises(DataError, match="no such folder"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(tmp_path / "none")), Source())


def test_pickled_weights_are_not_read(saved: Any, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(saved("classifier"), folder)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"cannot be loaded: .*model.safetensors"):
        make("classifier", folder)


def test_code_that_comes_with_a_model_is_run_only_when_the_user_says_so(saved: Any, tmp_path: Path) -> None:
    folder = tmp_path / "with-code"
    shutil.copytree(saved("classifier"), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}
    (folder / "config.json").write_text(json.dumps(config))
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    with pytest.raises(
        UsageError, match=r"brings Python code of its own, which is not run: .*trust_remote_code"
    ):
        make("classifier", folder)
    assert not ran.exists()


def test_labels_are_put_into_the_order_of_the_task(tmp_path: Path) -> None:
    names = {"id2label": {0: "Yes", 1: "maybe", 2: "NO"}, "label2id": {"Yes": 0, "maybe": 1, "NO": 2}}
    folder = save("classifier", tmp_path / "named", num_labels=3, **names)
    assert make("classifier", folder).order.tolist() == [2, 0]  # type: ignore[attr-defined]
    assert make("classifier", folder, labels=("maybe", "no")).order.tolist() == [1, 2]  # type: ignore[attr-defined]


def test_labels_that_nobody_can_match_are_refused(tmp_path: Path) -> None:
    names = {"id2label": {0: "bad", 1: "good"}, "label2id": {"bad": 0, "good": 1}}
    folder = save("classifier", tmp_path / "named", **names)
    with pytest.raises(UsageError, match=r"knows the labels bad, good, the task no, yes: .*labels=bad\+good"):
        make("classifier", folder)
    assert make("classifier", folder, labels=("bad", "good")).order.tolist() == [0, 1]  # type: ignore[attr-defined]
    three = save("classifier", tmp_path / "three", num_labels=3)
    with pytest.raises(UsageError, match="LABEL_0, LABEL_1, LABEL_2"):
        make("classifier", three)


def test_a_checkpoint_without_a_head_gets_one_for_the_labels_of_the_task(saved: Any) -> None:
    from dataclasses import replace

    three = replace(data(), label_names=("no", "yes", "perhaps"))
    model: Any = make("classifier", saved("encoder"), three)
    assert model.network.transformer.config.num_labels == 3
    assert model.order.tolist() == [0, 1, 2]


def test_weights_that_do_not_add_up_to_one_are_refused(saved: Any, monkeypatch: Any) -> None:
    eager = modeling_bert.eager_attention_forward

    def halved(*args: Any, **more: Any) -> Any:
        output, weights = eager(*args, **more)
        return output, weights / 2

    monkeypatch.setattr(modeling_bert, "eager_attention_forward", halved)
    with pytest.raises(
        UsageError, match="weights of layer 0 of BertForSequenceClassification do not add up to 1"
    ):
        make("classifier", saved("classifier"))


def test_weights_that_are_missing_are_refused(saved: Any, monkeypatch: Any) -> None:
    eager = modeling_bert.eager_attention_forward
    monkeypatch.setattr(
        modeling_bert, "eager_attention_forward", lambda *a, **more: (eager(*a, **more)[0], None)
    )
    with pytest.raises(UsageError, match="BertSelfAttention does not give its attention weights"):
        make("classifier", saved("classifier"))


def test_label_words_that_begin_alike_are_refused(saved: Any) -> None:
    with pytest.raises(UsageError, match="fourfive, fourtwo begin with the same piece"):
        make("language-model", saved("language-model"), labels=("fourfive", "fourtwo"), length="first")
    with pytest.raises(UsageError, match="give one word for each of no, yes"):
        make("language-model", saved("language-model"), labels=("one",))


def test_a_template_without_the_text_is_refused(cli: Any) -> None:
    code, _, err = cli("evaluate", "--task", WORDS, "--model", "hf-causal:checkpoint=x,template=It is")
    assert code == 2
    assert "must hold {text} once" in err


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("hf", 2, "checkpoint"),
        ("hf-classifier:checkpoint=./nowhere", 4, "no such folder"),
        ("hf-classifier:checkpoint=x,layer=top", 2, "layer"),
        ("hf-clasifier", 2, "hf-classifier"),
    ],
)
def test_a_mistake_is_one_line(model: str, code: int, said: str, cli: Any) -> None:
    found, out, err = cli("evaluate", "--task", WORDS, "--model", model, "--metric", "entropy")
    assert (found, out) == (code, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_the_laws_are_checked_on_a_checkpoint_of_ones_own(saved: Any, cli: Any) -> None:
    code, out, _ = cli("check", f"hf-classifier:checkpoint={saved('encoder')},layer=1")
    assert code == 0
    assert "reattend-own" in out
    assert all(line.endswith("ok") for line in out.splitlines())
    code, out, _ = cli("check", "hf-classifier")
    assert code == 0
    assert "not checked: needs options: checkpoint" in out
    code, _, err = cli("check", "hf-classifier:chekpoint=x")
    assert code == 2
    assert "Did you mean 'checkpoint'?" in err


@pytest.mark.parametrize(
    "settings",
    [
        {"num_hidden_layers": 10**9},
        {"num_labels": 10**9},
        {"num_attention_heads": 10**9},
        {"encoder": {"num_layers": [10**9]}},
        {"num_hidden_layers": 1e300},
        {"num_hidden_layers": 10**400},  # more than a float holds
    ],
)
def test_a_config_that_asks_for_too_many_parts_is_one_line(
    saved: Any, tmp_path: Path, settings: dict[str, Any]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(saved("classifier"), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | settings))
    with pytest.raises(DataError, match=r"config.json' asks for more than 100000 by num_\w+; so many"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(folder)), Source())


def test_a_config_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(2**32)  # sparse: it takes no space
    with pytest.raises(DataError, match="is larger than 50 MB"):
        Checkpoint.find(CheckpointOptions(checkpoint=str(tmp_path)), Source())


def test_reports_of_transformers_are_held_back_inside_and_shown_after(caplog: Any) -> None:
    logger = transformers_logging.get_logger("transformers.models")
    own, bars = getLogger("transformers"), transformers_logging.is_progress_bar_enabled()
    own.addHandler(caplog.handler)
    try:
        with quiet():
            with quiet():
                logger.warning("not shown")
            logger.warning("not shown either")
            logger.error("an error")
            getLogger("another").warning("of another library")
        logger.warning("shown again")
    finally:
        own.removeHandler(caplog.handler)
    assert list(dict.fromkeys(caplog.messages)) == ["an error", "of another library", "shown again"]
    assert transformers_logging.is_progress_bar_enabled() == bars
