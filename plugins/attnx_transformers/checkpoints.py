"""Where a checkpoint is found, and how it is loaded: safetensors or GGUF, no network unless it is needed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from logging import ERROR, LogRecord, getLogger, lastResort
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, Source, UsageError, did_you_mean_path, parse_object, read_text

from .language.gguf_files import check_header, gguf_in, require_accelerate, require_gguf
from .options import CheckpointOptions

_SENTENCE = re.compile(r".{,300}?(\.(?= |$)|$)|.{300}")
_POOLER = re.compile(r"(^|\.)pooler\.")  # it stands between body and head, and is trained with the head
_COUNT = re.compile(r"layer|depth|block|stage|head|label|expert|group|conv_dim|kernel")  # of parts to be made
MOST_PARTS, MOST_BYTES = 100_000, 50_000_000
REPORTING = ("transformers", "huggingface_hub")  # names of their loggers
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True)
class Loaded:
    """A model of transformers."""

    model: Any
    new: frozenset[str]  # parameters of a head that the checkpoint does not have


@dataclass(frozen=True)
class Checkpoint:
    """A folder, or a name on the hub, and how it may be read."""

    name: str  # as the user says it
    place: str
    revision: str
    local: bool  # it is a folder
    offline: bool
    trust_remote_code: bool
    gguf: str = ""  # the file in the folder, where it is one of llama.cpp

    @classmethod
    def find(cls, options: CheckpointOptions, source: Source) -> Checkpoint:
        """The checkpoint that the options name."""
        name = options.checkpoint
        folder = Path(os.path.expanduser(name))
        local, gguf = os.path.isdir(folder), ""
        if not local and name in source.datasets:
            folder, local = source.fetch(name).folder, True
        if folder.suffix == ".gguf" and os.path.isfile(folder):
            folder, gguf, local = folder.parent, folder.name, True
        elif local and not os.path.isfile(folder / "config.json"):
            gguf = gguf_in(folder)
        if gguf:
            require_gguf(name)
            check_header(folder / gguf)
        elif local:
            if not os.path.isfile(folder / "config.json"):
                raise DataError(f"'{folder}' has no config.json: it is not a model in Hugging Face layout.")
            _check_counts(folder / "config.json")
        elif not _HUB_NAME.fullmatch(name) or name.startswith("."):
            raise DataError(
                f"checkpoint={name}: no such {'file' if folder.suffix == '.gguf' else 'folder'}."
                f"{did_you_mean_path(folder, folder=folder.suffix != '.gguf')} "
                "Give one with a model in it, or a name on the hub."
            )
        place = str(folder) if local else name
        return cls(name, place, options.revision, local, source.offline, options.trust_remote_code, gguf)

    def load(self, kind: str, **settings: Any) -> Any:
        """What `from_pretrained` of that class of transformers gives; what is on this machine comes first."""
        import transformers

        loader = getattr(transformers, kind).from_pretrained
        settings |= {"trust_remote_code": self.trust_remote_code}
        settings |= {} if self.local else {"revision": self.revision}
        settings |= {"gguf_file": self.gguf} if self.gguf else {}
        # The reader of GGUF files shows a bar of its own, whatever the settings of transformers are.
        with quiet(), redirect_stderr(StringIO()) if self.gguf else nullcontext():
            try:
                return loader(self.place, local_files_only=True, **settings)
            except Exception as error:  # a folder of anybody's can make the libraries raise anything
                if self.local or self.offline or _needs_code(error):
                    raise self._refusal(error) from error
            try:  # a name on the hub that is not on this machine yet
                return loader(self.place, **settings)
            except Exception as error:
                raise self._refusal(error) from error

    def load_weights(self, kind: str, options: CheckpointOptions, **settings: Any) -> Loaded:
        """A model with all its weights, in the asked precision; nothing but a whole head may be new."""
        import torch
        import transformers

        if options.device_map:
            require_accelerate(options.device_map)
            settings["device_map"] = options.device_map
        if self.gguf:
            settings["quantization_config"] = transformers.GgufConfig(dequantize=True)
        model, found = self.load(
            kind,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below; the library's own error names none
            dtype=getattr(torch, options.dtype),
            **settings,
        )
        whole = model.base_model is model  # it has no head
        body = (f"{model.base_model_prefix}.", *(f"{name}." for name, _ in model.base_model.named_children()))
        missing = set(found["missing_keys"])
        poolers = {name for name in missing if _POOLER.search(name)}
        head = {name for name, _ in model.named_parameters() if not name.startswith(body)}
        new = (missing & head) | poolers if head and head <= missing else set[str]()
        wrong = {
            "lacks": missing - new - (poolers if whole else set()),  # nobody reads the pooler of a body
            "has another shape of": {name for name, *_ in found["mismatched_keys"]},
            "has more than the model takes": {
                name for name in found["unexpected_keys"] if not (new or whole) or name.startswith(body)
            },
        }
        said = [f"{what}: {_some(sorted(names))}" for what, names in wrong.items() if names]
        if said:
            raise DataError(
                f"checkpoint={self.name} does not fit {type(model).__name__}; it {'; it '.join(said)}."
            )
        return Loaded(model, frozenset(new))

    def _refusal(self, error: Exception) -> Exception:
        if _needs_code(error):
            return UsageError(
                f"'{self.name}' brings Python code of its own, which is not run: if you trust it, "
                "give trust_remote_code=true."
            )
        said = " ".join(str(error).split()) or type(error).__name__
        reason = _SENTENCE.match(said)[0]  # type: ignore[index]  # what follows is advice of another program
        if self.local:
            return DataError(f"'{self.place}' cannot be loaded: {reason}")
        where = "is not on this machine and ATTNX_OFFLINE is set" if self.offline else "could not be obtained"
        return DataError(
            f"checkpoint={self.name} {where}: {reason}{did_you_mean_path(self.name, folder=True)} "
            "Give a folder that the model was saved into instead."
        )


def _check_counts(file: Path) -> None:
    """Refuse a config that asks for so many parts that making them would never end."""
    if file.stat().st_size > MOST_BYTES:
        raise DataError(f"'{file}' is larger than {MOST_BYTES // 10**6} MB: it is not a config of a model.")
    waiting: list[tuple[str, Any]] = [("", parse_object(read_text(file), f"'{file}'"))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += ((name, one) for one in value)
        elif isinstance(value, int | float) and _COUNT.search(name) and value > MOST_PARTS:
            raise DataError(f"'{file}' asks for more than {MOST_PARTS} by {name}; so many are not made.")


def _some(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _needs_code(error: Exception) -> bool:
    return "trust_remote_code" in str(error)


@contextmanager
def quiet() -> Iterator[None]:
    """Without the progress bars and reports of transformers, whose settings are put back.

    Reports are stopped at the handlers: with every new level of a logger, Python forgets what it knows of all
    loggers, which took a third of the time of a small pass.
    """
    from transformers.utils import logging as own_logging

    logging: Any = own_logging

    def passes(record: LogRecord) -> bool:
        return record.levelno >= ERROR or record.name.partition(".")[0] not in REPORTING

    handlers = {handler for name in (None, *REPORTING) for handler in getLogger(name).handlers}
    handlers |= {lastResort} if lastResort else set()
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    for handler in handlers:
        handler.addFilter(passes)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(passes)
        if bars:
            logging.enable_progress_bar()
