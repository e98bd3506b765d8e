"""Reads YAML from untrusted files as plain data, within limits."""

from __future__ import annotations

from typing import Any

MOST_CHARACTERS = 4_000_000
MOST_NODES = 200_000  # counting every alias in full
DEEPEST = 50


def load_yaml(text: str) -> Any:
    """Strings, numbers, booleans, lists and mappings; a ValueError of one line for anything else.

    A date is a string. Limits are checked on the stream of events, without recursion, so that a document
    that is nested too deep or expands too far is never built.
    """
    import yaml  # `attnx list` would take a fifth longer

    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has {len(text)} characters, more than {MOST_CHARACTERS}")
    try:
        _check_events(text)
        data = yaml.load(text, Loader=_loader())
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
        raise ValueError(f"a value cannot be read: {' '.join(str(error).split())}") from error
    _check_plain(data)
    return data


def _check_events(text: str) -> None:
    import yaml

    sizes, names, known = [1], [""], {}  # sizes and anchors of open collections, and sizes of anchors
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            names.append(event.anchor or "")
            if len(sizes) > DEEPEST:
                raise yaml.YAMLError(f"nested more than {DEEPEST} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            size = sizes.pop()
            known[names.pop()] = size
            sizes[-1] += size
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in known:
                raise yaml.YAMLError(f"alias '{event.anchor}' is undefined or refers to itself")
            sizes[-1] += known[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            known[event.anchor or ""] = 1
            sizes[-1] += 1
        if sizes[-1] > MOST_NODES:
            raise yaml.YAMLError(f"more than {MOST_NODES} values, counting aliases in full")


def _loader() -> Any:
    import yaml

    class Loader(yaml.CSafeLoader):
        yaml_implicit_resolvers = {
            first: [(tag, pattern) for tag, pattern in of if tag != "tag:yaml.org,2002:timestamp"]
            for first, of in yaml.CSafeLoader.yaml_implicit_resolvers.items()
        }

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """A mapping each of whose keys occurs once; YAML would take the last value and say nothing."""
            if isinstance(node, yaml.MappingNode):
                seen: set[Any] = set()
                for key, _ in node.value:
                    if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                        found = self.construct_object(key)
                        if found in seen:
                            raise yaml.YAMLError(f"the key '{key.value[:40]}' occurs twice")
                        seen.add(found)
            return super().construct_mapping(node, deep)

    return Loader


def _check_plain(value: Any) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_plain(key)
            _check_plain(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_plain(inner)
    elif not isinstance(value, str | int | float | None):
        raise ValueError(f"a {type(value).__name__} is not a string, number, list or mapping")
