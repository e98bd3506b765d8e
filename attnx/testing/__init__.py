"""The conformance tests of components: the laws that every component of a kind must keep.

In the tests of a plugin, `assert_conforms` fails with every law that a component breaks:

    from attnx.testing import assert_conforms

    def test_my_projection() -> None:
        assert_conforms("projection", MyProjection())

Outside of tests, `attnx.check` and `attnx check NAME` run the same laws and report each of them.
"""

from typing import Any

from ..late_imports import Renamed, import_late
from .cases import MetricCase, assert_cases, read_cases
from .check_report import Capability, CheckReport, ComponentCheck, LawResult
from .checking import assert_conforms
from .laws import LAWS, Law
from .pretend_device import pretend_device
from .toy import MarkedToyModel, ToyModel, toy_data

__all__ = [  # noqa: RUF022 - grouped as an author looks for them
    "assert_conforms",
    "assert_cases",
    "read_cases",
    "MetricCase",
    "LAWS",
    "Law",
    "LawResult",
    "ComponentCheck",
    "Capability",
    "CheckReport",
    "ToyModel",
    "MarkedToyModel",
    "toy_data",
    "pretend_device",
]

_RENAMED = {
    "check": Renamed("attnx.testing.assert_conforms"),
    "check_component": Renamed("attnx.check", "attnx.testing.old_names.check_component"),
    "check_named": Renamed("attnx.check", "attnx.testing.old_names.check_named"),
    "results": Renamed("attnx.check", "attnx.testing.checking.law_results"),
}
_find = import_late(__name__, {}, _RENAMED)


def __getattr__(name: str) -> Any:
    return _find(name)
