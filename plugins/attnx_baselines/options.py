"""Options of the baselines."""

import hashlib
from pathlib import Path

from pydantic import Field, FilePath, ValidationInfo, field_validator

from attnx.plugin import Options


class RandomOptions(Options):
    """Options of `random`."""

    seed: int = Field(0, ge=0, description="seed of the random scores")


class PrecomputedOptions(Options):
    """Options of `precomputed`; a run is identified by the content of the file, not only by its name."""

    file: FilePath = Field(description="scores by example id: .jsonl, .jsonl.gz or .npz")
    sha256: str = Field(
        "", validate_default=True, description="SHA-256 of the file; computed if not given, checked if given"
    )

    @field_validator("file")
    @classmethod
    def _known_kind(cls, file: Path) -> Path:
        if not file.name.endswith((".jsonl", ".jsonl.gz", ".npz")):
            raise ValueError("the name must end in .jsonl, .jsonl.gz or .npz")
        return file

    @field_validator("sha256")
    @classmethod
    def _of_the_file(cls, given: str, info: ValidationInfo) -> str:
        if "file" not in info.data:  # already rejected
            return given
        with info.data["file"].open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if given not in ("", found):
            raise ValueError(f"{info.data['file']} has sha256 {found}")
        return found
