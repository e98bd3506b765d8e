"""Weights are found as they were written or not at all, and never unpickled."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from attnx.errors import AttnxWarning
from attnx.store.weights import FILE, Weights, _seal, tensors_hash

STATE = {
    "weight": torch.arange(6.0).reshape(2, 3).T,  # not contiguous
    "bias": torch.tensor([0.5, float("inf")], dtype=torch.float64),
    "steps": torch.tensor(3),
}
RECORD = {"best_epoch": 2, "course": [{"epoch": 0, "loss": None, "name": "Σ α"}]}


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def test_weights_come_back_with_their_record(tmp_path: Path) -> None:
    weights = Weights(tmp_path / "weights")
    assert weights.find("key") is None
    weights.write("key", STATE, RECORD)
    found = weights.find("key")
    assert found is not None
    state, record = found
    assert record == RECORD
    assert state.keys() == STATE.keys()
    for name, tensor in STATE.items():
        assert state[name].dtype == tensor.dtype
        assert torch.equal(state[name], tensor)
    assert tensors_hash(state) == tensors_hash(STATE)
    assert weights.find("other") is None


def test_equal_weights_are_equal_files(tmp_path: Path) -> None:
    state = {"b": torch.zeros(2), "a": torch.ones(3)}
    for number in range(20):  # entries of one file would be written in an order drawn at random
        Weights(tmp_path / str(number)).write("key", dict(reversed(state.items())), {"x": 1, "y": [2]})
    files = {(tmp_path / str(number) / "key" / FILE).read_bytes() for number in range(20)}
    assert len(files) == 1


def test_weights_with_record_and_checksum_as_entries_are_read(tmp_path: Path) -> None:
    state, place = {"weight": torch.ones(3)}, tmp_path / "key" / FILE
    place.parent.mkdir()
    save_file(state, place, {"record": "{}", "seal": _seal("key", state, "{}")})
    found = Weights(tmp_path).find("key")
    assert found is not None
    assert found[0]["weight"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("about", ["[]", "7", "null", "{}", "[" * 100_000, '{"record": 1, "seal": 2}', "{"])
def test_odd_entries_are_a_warning(about: str, tmp_path: Path) -> None:
    place = tmp_path / "key" / FILE
    place.parent.mkdir()
    save_file({"weight": torch.ones(3)}, place, {"attnx": about})
    with pytest.warns(AttnxWarning, match="cannot be read"):
        assert Weights(tmp_path).find("key") is None


def test_weights_that_share_memory_are_kept_apart(tmp_path: Path) -> None:
    shared = torch.arange(4.0)
    Weights(tmp_path).write("key", {"a": shared, "b": shared[:2]}, {})
    found = Weights(tmp_path).find("key")
    assert found is not None
    assert found[0]["b"].tolist() == [0.0, 1.0]


def test_a_failure_while_saving_leaves_no_weights(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Weights(tmp_path).write("key", STATE, {"record": object()})
    assert files(tmp_path) == set()
    assert Weights(tmp_path).find("key") is None


class Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("dump", ["pickle", "torch"])
def test_a_pickle_in_the_place_of_weights_is_refused_unread(dump: str, tmp_path: Path) -> None:
    place = tmp_path / "key" / "weights.safetensors"
    place.parent.mkdir()
    trace = tmp_path / "unpickled"
    if dump == "pickle":
        place.write_bytes(pickle.dumps(Trap(trace)))
    else:
        torch.save({"weight": Trap(trace)}, place)
    with pytest.warns(AttnxWarning, match="cannot be read"):
        assert Weights(tmp_path).find("key") is None
    assert not trace.exists()
    pickle.loads(pickle.dumps(Trap(trace)))
    assert trace.exists(), "the trap does not work"


def damage(place: Path, how: str) -> None:
    whole = place.read_bytes()
    if how == "cut short":
        place.write_bytes(whole[:-3])
    elif how == "one bit of a tensor":
        place.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    elif how == "one digit of the record":
        assert whole.count(b'best_epoch\\\\\\": 2') == 1
        place.write_bytes(whole.replace(b'best_epoch\\\\\\": 2', b'best_epoch\\\\\\": 3'))
    elif how == "no record":
        save_file({"weight": torch.zeros(2)}, place)
    elif how == "a folder":
        place.unlink()
        place.mkdir()
    else:
        place.write_bytes(b"")


@pytest.mark.parametrize(
    "how",
    ["cut short", "one bit of a tensor", "one digit of the record", "no record", "a folder", "empty"],
)
def test_damaged_weights_are_a_warning_and_not_used(how: str, tmp_path: Path) -> None:
    weights = Weights(tmp_path)
    weights.write("key", STATE, RECORD)
    damage(tmp_path / "key" / "weights.safetensors", how)
    with pytest.warns(AttnxWarning) as shown:
        assert weights.find("key") is None
    (warning,) = shown
    assert str(warning.message).startswith(f"The weights in '{tmp_path / 'key'}' cannot be read (")
    assert str(warning.message).endswith("); the model is trained again.")
    weights.write("key", STATE, RECORD)
    assert weights.find("key") is not None


def test_weights_under_the_name_of_others_are_not_taken(tmp_path: Path) -> None:
    Weights(tmp_path).write("key", STATE, RECORD)
    (tmp_path / "key").rename(tmp_path / "other")
    with pytest.warns(AttnxWarning, match="does not match its checksum"):
        assert Weights(tmp_path).find("other") is None


def test_weights_that_vanish_while_they_are_looked_for_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors

    weights = Weights(tmp_path)
    weights.write("key", STATE, RECORD)
    opened = safetensors.safe_open

    def late(path: Path, **settings: Any) -> Any:
        (tmp_path / "key").rename(tmp_path / "aside")
        return opened(path, **settings)

    monkeypatch.setattr("safetensors.safe_open", late)
    assert weights.find("key") is None  # without a warning, which would be an error here
