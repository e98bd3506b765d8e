"""Settings that a whole process shares and results depend on, of torch, of random numbers, of the system.

A run starts from known values and leaves the process as it was. A component that changes one of the settings
would change every number after it, so it is refused by name.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields

import numpy as np
import torch

from ..errors import PluginError
from ..request.plan import Part


@dataclass(frozen=True, slots=True)
class GlobalState:
    """The settings of this process that no component may change."""

    default_dtype: torch.dtype
    gradients: bool
    deterministic_algorithms: bool
    deterministic_warnings: bool
    matmul_precision: str
    mkldnn: bool
    threads: int
    working_directory: str  # empty where it was deleted

    @classmethod
    def now(cls) -> GlobalState:
        return cls(
            default_dtype=torch.get_default_dtype(),
            gradients=torch.is_grad_enabled(),
            deterministic_algorithms=torch.are_deterministic_algorithms_enabled(),
            deterministic_warnings=torch.is_deterministic_algorithms_warn_only_enabled(),
            matmul_precision=torch.get_float32_matmul_precision(),
            mkldnn=bool(torch.backends.mkldnn.enabled),
            threads=torch.get_num_threads(),
            working_directory=_working_directory(),
        )

    def restore(self) -> None:
        """Make the process what it was when this was read."""
        torch.set_default_dtype(self.default_dtype)
        torch.set_grad_enabled(self.gradients)
        flags = (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        )
        if flags != (self.deterministic_algorithms, self.deterministic_warnings):
            # Setting them loads torch's compiler, a second that a run without a change is spared.
            torch.use_deterministic_algorithms(
                self.deterministic_algorithms, warn_only=self.deterministic_warnings
            )
        torch.set_float32_matmul_precision(self.matmul_precision)
        torch.backends.mkldnn.enabled = self.mkldnn  # type: ignore[assignment]
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        if self.working_directory and _working_directory() != self.working_directory:
            os.chdir(self.working_directory)

    def changes_to(self, other: GlobalState) -> list[str]:
        """The settings that are different in the other state, each with both values."""
        pairs = (
            (f.name.replace("_", " "), getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )
        return [f"{name} from {before} to {after}" for name, before, after in pairs if before != after]


@contextmanager
def standard_state() -> Iterator[None]:
    """Compute with 32-bit numbers by default and with seeded generators; leave the process as it was.

    Flags that a user may have reason to set (mkldnn, deterministic algorithms, threads) stay as they are:
    they are part of the name of a run.
    """
    before = GlobalState.now()
    of_random, of_numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng():
            torch.set_default_dtype(torch.float32)
            random.seed(0)
            np.random.seed(0)
            torch.manual_seed(0)
            yield
    finally:
        before.restore()
        random.setstate(of_random)
        np.random.set_state(of_numpy)


@contextmanager
def unchanged_state(title: str) -> Iterator[None]:
    """Refuse a component that changes the global state, and undo what it did."""
    before = GlobalState.now()
    try:
        yield
    except BaseException:
        before.restore()
        raise
    changes = before.changes_to(GlobalState.now())
    if changes:
        before.restore()
        raise PluginError(
            f"{title} changed the {'; the '.join(changes)}. All later results would depend on it: a "
            "component must leave global settings as they are."
        )


def import_components(parts: Sequence[Part]) -> None:
    """Import the components of these parts, and refuse one whose import changes the global state."""
    for part in parts:
        if part.component is not None:
            with unchanged_state(part.title):
                part.component.load()


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""
