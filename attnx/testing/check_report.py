"""What checking a component gives back: each law with its result, and what a model can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..host.cards import CAPABILITIES, Kind


@dataclass(frozen=True, slots=True)
class LawResult:
    """Whether one component keeps one law.

    Attributes:
        component: the name of the component.
        law: the name of the law.
        failure: what the component did wrong; empty if it keeps the law.
        unchecked: why the law was not tested; empty if it was.
        remark: a note on a law that is kept.
    """

    component: str
    law: str
    failure: str = ""
    unchecked: str = ""
    remark: str = ""

    def __str__(self) -> str:
        passed = f"not checked: {self.unchecked}" if self.unchecked else self.remark or "ok"
        mark = f"FAILED {self.failure}" if self.failure else passed
        return f"{self.component:<28} {self.law:<20} {mark}"


@dataclass(frozen=True, slots=True)
class Capability:
    """Whether a wrapped model can do one thing.

    Attributes:
        component: the name of the model.
        word: the word that a model declares it by in `provides`.
        why_not: why the model cannot do it; empty if it can.
    """

    component: str
    word: str
    why_not: str = ""

    def __str__(self) -> str:
        answer = f"no: {self.why_not}" if self.why_not else f"yes: {CAPABILITIES[self.word]}"
        return f"{self.component:<28} {self.word:<20} {answer}"


@dataclass(frozen=True, slots=True)
class ComponentCheck:
    """The result for one component, or for the import of one plugin.

    Attributes:
        name: what it is called.
        kind: which kind of component it is, or "plugin".
        laws: every law of that kind with its result.
        capabilities: for a model that `attnx.wrap` made, what it can do and what not.
        provides: for a model, the words that it may declare.
    """

    name: str
    kind: Kind | Literal["plugin"]
    laws: tuple[LawResult, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    provides: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no law is broken."""
        return not self.failures

    @property
    def failures(self) -> tuple[LawResult, ...]:
        """The laws that are broken."""
        return tuple(law for law in self.laws if law.failure)

    def __str__(self) -> str:
        lines = [str(line) for line in (*self.capabilities, *self.laws)]
        return "\n".join([*lines, *([f"provides = {self.provides}"] if self.provides else [])])


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of `attnx.check`: one entry for each component that was checked.

    Attributes:
        components: the results; one for an object, several for a plugin or a file.
    """

    components: tuple[ComponentCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether no component breaks a law."""
        return all(component.passed for component in self.components)

    @property
    def failures(self) -> tuple[LawResult, ...]:
        """The laws that are broken, over all components."""
        return tuple(law for component in self.components for law in component.failures)

    def __str__(self) -> str:
        return "\n".join(map(str, self.components))
