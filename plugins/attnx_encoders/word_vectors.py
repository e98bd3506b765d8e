"""Word vectors: learned from random values, or read from a file."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping
from contextlib import closing
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from attnx.plugin import DataError, Source, UsageError, did_you_mean_path, read_lines

from .options import ClassifierOptions
from .vocabulary import PAD, Vocabulary

LEARNED = "learned"
DATASETS = {"glove-50d": "glove.6B.50d.txt"}  # word vectors in the registry, and their file

_HEADER = re.compile(r"\d{1,18}[ \t]+(\d{1,18})\s*")
_WORD = re.compile(r"[^ \t\r\n]+")  # other white space is a word in some published files

Vector = np.ndarray[Any, np.dtype[np.float32]]


def make_embedding(vocabulary: Vocabulary, options: ClassifierOptions, source: Source) -> nn.Embedding:
    """A vector for every word of the vocabulary, 0 for padding."""
    known: Mapping[str, Vector] = {}
    size = options.embedding
    if options.embeddings == LEARNED:
        if options.freeze:
            raise UsageError("freeze=true needs given word vectors: add embeddings=FILE.")
    else:
        path = find_vectors(options.embeddings, source)
        known, size = _last_read(path, os.stat(path).st_mtime_ns, frozenset(vocabulary.number))
        if not known:
            raise DataError(f"No word of the training data has a vector in '{path}'; is it another language?")
    table = torch.randn(len(vocabulary), size) * options.spread  # [V, E]
    table[PAD] = 0.0
    for word, vector in known.items():
        table[vocabulary.number[word]] = torch.from_numpy(vector)
    return nn.Embedding.from_pretrained(table, freeze=options.freeze, padding_idx=PAD)


def find_vectors(name: str, source: Source) -> Path:
    """The file of word vectors that `embeddings` names."""
    path = Path(os.path.expanduser(name))  # an unknown user stays as written
    try:
        if path.is_file():
            return path
    except OSError as error:  # a folder without permission, or a name that is too long
        raise DataError(f"Cannot read '{name}' (option embeddings): {error.strerror}.") from error
    if name in DATASETS:
        return source.fetch(name).folder / DATASETS[name]
    nearest = did_you_mean_path(path)
    raise UsageError(f"embeddings={name}: no such file.{nearest} Give learned, or a file of word vectors.")


@lru_cache(maxsize=1)
def _last_read(path: Path, changed: int, wanted: frozenset[str]) -> tuple[dict[str, Vector], int]:  # noqa: ARG001
    """Read the vectors again only if the file or the words changed: every seed asks for the same."""
    return read_vectors(path, wanted)


def read_vectors(path: Path, wanted: Container[str]) -> tuple[dict[str, Vector], int]:
    """Read the vectors of the wanted words, and their size, from lines "word v1 v2 ...".

    A first line with two whole numbers only, as in fastText files, is skipped.
    """
    found: dict[str, Vector] = {}
    with closing(read_lines(path)) as lines:
        first = next(lines, "")
        header = _HEADER.fullmatch(first)
        size = int(header[1]) if header else len(first.split()) - 1
        if size < 1:
            raise DataError(f"{path}:1: not a word and its vector")
        if not header:  # it defines the length of a vector, so it must be one
            _vector(first.split()[1:], size, f"{path}:1")
        for number, line in enumerate(chain([first], lines), start=1):
            word = _WORD.match(line)
            if word and word[0] in wanted and not (number == 1 and header):
                values = line.split()[1:]
                if len(values) <= size:  # or its word has spaces in it, as some published files have them
                    found[word[0]] = _vector(values, size, f"{path}:{number}")
    return found, size


def _vector(values: list[str], size: int, where: str) -> Vector:
    try:
        with np.errstate(over="ignore"):  # what is too large is refused below
            vector = np.array(values, dtype=np.float32)
    except ValueError as error:
        raise DataError(f"{where}: not a word and its vector: {error}") from error
    if len(vector) != size:
        raise DataError(f"{where}: {len(vector)} numbers, but the first vector has {size}")
    if not np.isfinite(vector).all():
        raise DataError(f"{where}: not a word and its vector: a number is not finite")
    return vector
