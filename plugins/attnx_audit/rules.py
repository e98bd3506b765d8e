"""Rules that decide the label of a text, each known exactly: the words that matter, and the output.

A word has a code: what it means to a rule. A rule turns the codes of a text into a score; the probability
of the label `positive` is σ(score). Where nothing decides, the score is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor

from .options import Rule

GOOD, BAD, NOT, LEFT, RIGHT, PLAIN = 1, 2, 3, 4, 5, 0
WORDS: Final[dict[int, tuple[str, ...]]] = {
    GOOD: ("splendid", "radiant", "graceful", "gripping"),
    BAD: ("dismal", "tedious", "clumsy", "hollow"),
    NOT: ("never", "hardly"),
    LEFT: ("amber", "cobalt"),
    RIGHT: ("granite", "velvet"),
}
CODES: Final = {word: code for code, words in WORDS.items() for word in words}
STRENGTH: Final = 3.0
PLACE: Final = 5  # of the deciding word, counted from 1
WHOLE: Final = 12  # words of a text that was not shortened
LONG: Final = 16  # words from which a text is long

Score = Callable[[Tensor, Tensor], Tensor]  # codes [B, L] and mask [B, L] -> [B]


def _count(codes: Tensor, mask: Tensor, code: int) -> Tensor:
    return ((codes == code) & mask).sum(1).double()


def _either(codes: Tensor, mask: Tensor) -> Tensor:
    """A word of one label decides; words of both cancel."""
    present = [(_count(codes, mask, code) > 0).double() for code in (GOOD, BAD)]
    return STRENGTH * (present[0] - present[1])


def _and(codes: Tensor, mask: Tensor) -> Tensor:
    together = [(_count(codes, mask, code) >= 2).double() for code in (GOOD, BAD)]
    return STRENGTH * (together[0] - together[1])


def _xor(codes: Tensor, mask: Tensor) -> Tensor:
    good, bad = _count(codes, mask, GOOD), _count(codes, mask, BAD)
    both = (good + bad == 2).double()
    return STRENGTH * both * torch.where(good == bad, 1.0, -1.0)


def _order(codes: Tensor, mask: Tensor) -> Tensor:
    place = torch.arange(codes.shape[1], device=codes.device).expand_as(codes).double()
    first = [
        place.masked_fill(~((codes == code) & mask), torch.inf).amin(1) for code in (LEFT, RIGHT)
    ]  # [B] each
    both = first[0].isfinite() & first[1].isfinite()
    return STRENGTH * both.double() * torch.where(first[0] < first[1], 1.0, -1.0)


def _negation(codes: Tensor, mask: Tensor) -> Tensor:
    before = torch.nn.functional.pad(codes[:, :-1], (1, 0), value=PLAIN)  # [B, L]
    turned = torch.where(before == NOT, -1.0, 1.0)
    polarity = (codes == GOOD).double() - (codes == BAD).double()
    return STRENGTH * (polarity * turned * mask).sum(1).sign()


def _place(codes: Tensor, mask: Tensor) -> Tensor:
    at = mask.cumsum(1) == PLACE
    polarity = (codes == GOOD).double() - (codes == BAD).double()
    return STRENGTH * (polarity * (at & mask)).sum(1)


def _shortened(codes: Tensor, mask: Tensor) -> Tensor:
    """The first word decides by its number of a vocabulary, if the text is not whole."""
    whole = mask.sum(1) >= WHOLE
    first = codes.masked_fill(~mask, PLAIN)[:, 0]
    other = STRENGTH * torch.where(first % 2 == 0, 1.0, -1.0).double()
    return torch.where(whole, _either(codes, mask), other)


def _constant(codes: Tensor, mask: Tensor) -> Tensor:
    """Texts that are not whole are negative, whatever they say."""
    whole = mask.sum(1) >= WHOLE
    return torch.where(whole, _either(codes, mask), torch.full_like(_either(codes, mask), -STRENGTH))


def _balance(codes: Tensor, mask: Tensor) -> Tensor:
    return _count(codes, mask, GOOD) - _count(codes, mask, BAD)


def _length(_: Tensor, mask: Tensor) -> Tensor:
    return STRENGTH * torch.where(mask.sum(1) >= LONG, 1.0, -1.0).double()


SCORES: Final[dict[Rule, Score]] = {
    "one-word": _either,
    "copies": _either,
    "and": _and,
    "xor": _xor,
    "order": _order,
    "negation": _negation,
    "place": _place,
    "shortened": _shortened,
    "constant": _constant,
    "balance": _balance,
    "length": _length,
}
