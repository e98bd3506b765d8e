"""Memory that was freed goes back to the system after long work only."""

import pytest

from attnx.run.measuring import freed_memory


@pytest.mark.parametrize(("seconds", "calls"), [(0.1, []), (2.0, [0])])
def test_memory_is_given_back_after_long_work(
    seconds: float, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    monkeypatch.setattr(freed_memory, "_trim", lambda: made.append)
    freed_memory.give_back(after=seconds)
    assert made == calls


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _: object())
    freed_memory._trim.cache_clear()
    freed_memory.give_back(after=2.0)
    assert freed_memory._trim() is None
    freed_memory._trim.cache_clear()
