"""`attnx new`: a package for a component of your own."""

from pathlib import Path
from typing import Annotated

import typer

KINDS = ("metric", "method", "task", "model", "projection", "study")


def _kinds(incomplete: str) -> list[str]:
    return [kind for kind in KINDS if kind.startswith(incomplete)]


def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"{', '.join(KINDS)}.", autocompletion=_kinds)],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the component is called, e.g. top-share.")
    ],
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the package.  [default: attnx-NAME in this folder]"),
    ] = None,
) -> None:
    """Write a package with a component of your own, ready to edit, check and install.

    Nothing is overwritten.

    Examples:

      attnx new metric top-share

      attnx new method my-gradient --into plugins/my-gradient
    """
    from .. import components

    folder = components.new(kind, name, into=into)
    module = name.replace("-", "_")
    print(f"{folder}/")
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(f"  {file.relative_to(folder).as_posix()}")
    print(f"Next: edit attnx_{module}/{module}.py, then in {folder}:")
    print(f"  attnx check attnx_{module}/{module}.py")
    print("  python -m pytest")
    print("  python -m pip install .")
