"""Shell completion: the names of components, datasets, experiments, runs and studies."""

from collections.abc import Callable

from ..host.cards import Kind

Complete = Callable[[str], list[str]]


def names_of(*kinds: Kind) -> Complete:
    """A completion of components of these kinds; models include the named ones."""

    def complete(incomplete: str) -> list[str]:
        from ..host.catalog import Catalog
        from ..registry.text import summaries

        catalog = Catalog.installed()
        found = {component.name for kind in kinds for component in catalog.of_kind(kind)}
        if "model" in kinds:
            found |= set(summaries(catalog.plugins, "models") or ())
        return sorted(name for name in found if name.startswith(incomplete))

    return complete


def dataset_names(incomplete: str) -> list[str]:
    """Complete names of datasets."""
    from ..host.catalog import Catalog

    return sorted(name for name in Catalog.installed().registry.datasets if name.startswith(incomplete))


def experiment_names(incomplete: str) -> list[str]:
    """Complete names of experiments."""
    from ..host.catalog import Catalog

    return sorted(name for name in Catalog.installed().registry.experiments if name.startswith(incomplete))


def kinds(incomplete: str) -> list[str]:
    """Complete what `attnx list` accepts."""
    from ..views.components import PLURALS

    return [kind for kind in (*PLURALS, "experiments") if kind.startswith(incomplete)]


def saved_names(incomplete: str) -> list[str]:
    """Complete names of runs and studies."""
    from ..store.home import home

    folders = (path for kind in ("runs", "studies") for path in (home() / kind).glob(f"{incomplete}*"))
    return sorted(folder.name for folder in folders if not folder.name.startswith("."))
