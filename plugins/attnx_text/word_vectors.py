"""Word vectors: learned from nothing, or begun from a file of them."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
from torch import nn

from attnx import DataError, UsageError, fetch_dataset

from .model_options import ClassifierOptions
from .vocabulary import PAD, Vocabulary

LEARNED = "learned"
DATASETS = {"glove-50d": "glove.6B.50d.txt"}  # word vectors that the registry knows, and their file
SPREAD = 0.1  # standard deviation of vectors that no file gives

Vector = np.ndarray[Any, np.dtype[np.float32]]


def make_embedding(vocabulary: Vocabulary, options: ClassifierOptions) -> nn.Embedding:
    """A vector for every word of the vocabulary, 0 for padding."""
    known: Mapping[str, Vector] = {}
    size = options.embedding
    if options.embeddings == LEARNED:
        if options.freeze:
            raise UsageError("freeze=true needs word vectors to keep: give embeddings=FILE as well.")
    else:
        path = find_vectors(options.embeddings)
        known, size = read_vectors(path, vocabulary.number)
        if not known:
            raise DataError(f"No word of the training data has a vector in '{path}'; is it another language?")
    table = torch.randn(len(vocabulary), size) * SPREAD  # [V, E]
    table[PAD] = 0.0
    for word, vector in known.items():
        table[vocabulary.number[word]] = torch.from_numpy(vector)
    return nn.Embedding.from_pretrained(table, freeze=options.freeze, padding_idx=PAD)


def find_vectors(name: str) -> Path:
    """The file of word vectors that `embeddings` names."""
    path = Path(name).expanduser()
    if path.is_file():
        return path
    if name in DATASETS:
        return fetch_dataset(name) / DATASETS[name]
    raise UsageError(f"embeddings={name}: no such file. Give learned, or a file of word vectors.")


def read_vectors(path: Path, wanted: Mapping[str, int]) -> tuple[dict[str, Vector], int]:
    """The vectors of the wanted words, and their size, from lines "word v1 v2 ...".

    A first line with two numbers only, as fastText writes it, is passed over.
    """
    found: dict[str, Vector] = {}
    with _open(path) as lines:
        try:
            first = lines.readline().split()
            size = int(first[1]) if len(first) == 2 else len(first) - 1
            lines.seek(0)
            if size < 1:
                raise DataError(f"{path}:1: not a word and its vector")
            for number, line in enumerate(lines, start=1):
                word = line.partition(" ")[0]
                if word in wanted and not (number == 1 and len(first) == 2):
                    # Split from the end: some published files hold words with spaces in them.
                    name, *values = line.rstrip().rsplit(" ", size)
                    if name == word:
                        found[word] = _vector(values, size, f"{path}:{number}")
        except (OSError, UnicodeDecodeError, EOFError) as error:
            raise DataError(f"Cannot read word vectors from '{path}': {error}") from error
    return found, size


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")


def _vector(values: list[str], size: int, where: str) -> Vector:
    try:
        vector = np.array(values, dtype=np.float32)
    except ValueError as error:
        raise DataError(f"{where}: not a word and its vector: {error}") from error
    if len(vector) != size:
        raise DataError(f"{where}: {len(vector)} numbers, but the first vector has {size}")
    return vector
