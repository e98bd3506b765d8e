"""The conformance kit: laws that every component of a kind must keep, for plugin authors and for us.

    from attnx.testing import check
    check("projection", MyProjection())

raises `attnx.CheckFailed` with every broken law. `attnx check NAME` does the same from a shell.
"""

from .checking import LawResult, check, check_component, check_named, results
from .laws import LAWS, Law
from .pretend_device import pretend_device
from .toy import ToyModel, toy_data

__all__ = [
    "LAWS",
    "Law",
    "LawResult",
    "ToyModel",
    "check",
    "check_component",
    "check_named",
    "pretend_device",
    "results",
    "toy_data",
]
