"""The settings of a run as data: validated once, then frozen."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, ClassVar, Literal, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ..errors import UsageError, did_you_mean, did_you_mean_path
from .option_text import choice_label, read_options


class Options(BaseModel):
    """The options of a component: subclass it and give every field a type, a default and a description.

    On the command line, the values of a tuple are joined by +, e.g. kernels=1+3+5.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Options of a model that only choose what is read from it; training does not depend on them.
    reading: ClassVar[tuple[str, ...]] = ()
    # The option of a task that names another task, from which it is made.
    wraps: ClassVar[str] = ""

    @property
    def also_needs(self) -> tuple[str, ...]:
        """What a component needs with these options, in addition to what its class declares."""
        return ()

    @property
    def also_provides(self) -> tuple[str, ...]:
        """What a component provides with these options, in addition to what its class declares."""
        return ()

    @model_validator(mode="before")
    @classmethod
    def _split_tuples(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        tuples = {name for name, field in cls.model_fields.items() if get_origin(field.annotation) is tuple}
        return {
            name: tuple(part.strip() for part in value.split("+"))
            if name in tuples and isinstance(value, str)
            else value
            for name, value in given.items()
        }


class Choice(Options):
    """A component by name, with the options given to it."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Read NAME or NAME:key=value,key=value; a value with a comma is in double quotes."""
        name, _, rest = text.partition(":")
        if name.strip().endswith(".py"):
            raise UsageError(
                f"'{text}' is a file, not the name of a component. Use objects of your own in Python: "
                "attnx.evaluate(task, model)."
            )
        return cls(name=name.strip(), options=read_options(rest, text))

    @property
    def label(self) -> str:
        """The choice as a person would type it."""
        return choice_label(self.name, self.options)


def _choice(value: Any) -> Any:
    return Choice.parse(value) if isinstance(value, str) else value


ChoiceField = Annotated[Choice, BeforeValidator(_choice)]


class Training(Options):
    """How a model is trained."""

    model_config = ConfigDict(allow_inf_nan=False)

    epochs: Annotated[int, Field(ge=0)] = 8  # 0: the model is not trained
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    schedule: Literal["constant", "cosine"] = "constant"  # cosine: the rate falls to 0 over all epochs
    warmup: Annotated[float, Field(ge=0, le=1)] = 0.0  # share of all epochs in which the rate rises from 0
    batch_size: Annotated[int, Field(gt=0)] = 32
    weight_decay: Annotated[float, Field(ge=0)] = 1e-5
    patience: Annotated[int, Field(ge=0)] = (
        0  # stop after this many epochs without a better dev score; 0: never
    )
    entropy: Annotated[float, Field(ge=0)] = 0.0  # weight of the entropy of attention in the loss
    deception: Annotated[float, Field(ge=0)] = 0.0  # weight of the penalty on attention to the rationale
    clip: Annotated[float, Field(ge=0)] = 0.0  # largest gradient norm; 0: no clipping
    class_weights: Literal["none", "balanced"] = "none"
    precision: Literal["full", "mixed"] = "full"  # mixed: matrix products in half precision


class Limit(Options):
    """At most this many examples of each split."""

    train: Annotated[int, Field(gt=0)] | None = None
    dev: Annotated[int, Field(gt=0)] | None = None
    test: Annotated[int, Field(gt=0)] | None = None

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read N, or train=N,test=N."""
        try:
            if "=" not in text:
                return cls.model_validate(dict.fromkeys(("train", "dev", "test"), text))
            parts = [item.split("=", 1) for item in text.split(",")]
            names = [part[0].strip() for part in parts]
            for name in names:
                if names.count(name) > 1:
                    raise UsageError(f"Limit '{text}' gives {name} twice: keep one of them.")
            return cls.model_validate({name: part[1] for name, part in zip(names, parts, strict=True)})
        except (ValidationError, ValueError, IndexError) as error:
            raise UsageError(
                f"Cannot read limit '{text}'. Write a positive number, or e.g. train=500,dev=100,test=100."
            ) from error


Sample = Literal["auto", "all"] | Annotated[int, Field(gt=0)]


class RunSpec(Options):
    """Everything that determines a run."""

    task: ChoiceField | None = None  # None: the default of the registry
    model: ChoiceField | None = None  # None: the one the task recommends
    projection: ChoiceField | None = None  # None: the model's, or the default of the registry
    explanations: tuple[ChoiceField, ...] = ()  # empty: the first default that the model supports
    references: tuple[ChoiceField, ...] = ()
    metrics: tuple[ChoiceField, ...] = ()  # empty: the standard set; "all" and "none" are allowed
    target: str = "predicted"  # the class that is explained: its name, "predicted" or "gold"
    versus: str | None = None  # the class that it is contrasted with
    training: dict[str, Any] = Field(default_factory=dict)
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**32)], ...], Field(min_length=1)] = (0,)
    limit: Limit = Limit()
    sample: Sample = "auto"  # test examples for expensive metrics; auto: set by a time budget
    device: str = "auto"

    @field_validator("seeds")
    @classmethod
    def _distinct(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is given twice")
        return tuple(sorted(seeds))  # their order does not change the run

    def canonical(self) -> str:
        """The spec as canonical JSON: equal specs give equal text."""
        return canonical_json(self.model_dump(mode="json"))


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values, equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(*parts: str) -> str:
    """A short name for these strings: 16 hexadecimal digits of their SHA-256."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(f"{len(part)}:{part}".encode())
    return hashed.hexdigest()[:16]


def validate_options(options: type[Options], given: dict[str, Any], owner: str) -> Options:
    """Check options against their class; an error names the option, its owner and the allowed ones."""
    known = list(options.model_fields)
    for key in given:
        if key not in known:
            allowed = ", ".join(known) or "none"
            nearest = did_you_mean(key, known)
            raise UsageError(f"Unknown option '{key}' of {owner}.{nearest} Available: {allowed}.")
    try:
        return options.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing" and key in known:
            meaning = options.model_fields[key].description
            raise UsageError(
                f"Option '{key}' of {owner} is required{f': {meaning}' if meaning else ''}. "
                f"Write {key}=VALUE after the name."
            ) from error
        where = f"option '{key}' of {owner}" if key else f"the options of {owner}"
        nearest = did_you_mean_path(str(first["input"])) if first["type"] == "path_not_file" else ""
        raise UsageError(f"Bad value {first['input']!r} for {where}: {first['msg']}.{nearest}") from error
