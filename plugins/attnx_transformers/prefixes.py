"""Many inputs of a decoder that begin alike: what they share is computed once.

A position of a decoder sees only what is before it, so inputs that begin with the same pieces have the same
states there. Inputs are put into a tree. A pass computes each of its nodes once; a node sees those on its way
from the root. A tree that is too large for one pass has a trunk, whose states are kept for all its passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnx.formulas import fast_linear
from attnx.plugin import Batch

from .checkpoints import quiet
from .language.answers import Answers
from .network import PROBED, Network
from .stack import alike

NODES = 512  # of one pass: with more, comparing with nodes that are masked takes over

Pieces = tuple[int, ...]
Read = tuple[Pieces, int, int]  # an input, a place in it, and the piece whose logit after it is wanted


@dataclass(frozen=True)
class Trunk:
    """The beginning that most inputs of a text share, and its states."""

    pieces: Pieces = ()
    layers: tuple[tuple[Tensor, Tensor], ...] = ()  # keys and values [1, M, P, D]

    @classmethod
    def of(cls, network: Network, inputs: Sequence[Pieces]) -> Trunk:
        """The path on which at each place the most inputs go on, while there are two or more."""
        found: list[int] = []
        while len(inputs) > 1:
            following = Counter(one[len(found)] for one in inputs if len(one) > len(found))
            if not following:
                break
            piece = following.most_common(1)[0][0]
            inputs = [one for one in inputs if one[len(found) : len(found) + 1] == (piece,)]
            found.append(piece)
        output = _call(network, found, list(range(len(found))), logits_to_keep=1)
        layers = tuple((layer.keys, layer.values) for layer in output.past_key_values.layers)
        return cls(tuple(found), layers)

    def cache(self) -> Any:
        """The states as a transformer takes them."""
        if not self.layers:
            return None
        from transformers import DynamicCache

        kept = DynamicCache()
        for number, (keys, values) in enumerate(self.layers):
            kept.update(keys, values, number)
        return kept


@dataclass
class Tree:
    """Inputs whose common beginnings are the same nodes; each node comes after the one before it."""

    trunk: Trunk = field(default_factory=Trunk)
    pieces: list[int] = field(default_factory=list)  # [N]
    places: list[int] = field(default_factory=list)  # [N] in the input
    before: list[int] = field(default_factory=list)  # [N] a node, or −1 − how much of the trunk
    reads: list[Read] = field(default_factory=list)
    _known: dict[tuple[int, int], int] = field(default_factory=dict)  # by what is before, and the piece
    _paths: dict[Pieces, list[int]] = field(default_factory=dict)  # of each input its last nodes

    def __len__(self) -> int:
        return len(self.pieces)

    def add(self, one: Pieces, reads: Sequence[Read]) -> None:
        """Take in an input and what is read of it; what is read is computed even if it is on the trunk."""
        at = min(_shared(one, self.trunk.pieces), *(place for _, place, _ in reads))
        node, path = -1 - at, []
        for place in range(at, len(one)):
            named = node, one[place]
            if named not in self._known:
                self._known[named] = len(self)
                self.pieces.append(one[place])
                self.places.append(place)
                self.before.append(node)
            node = self._known[named]
            path.append(node)
        self._paths[one] = path
        self.reads += reads

    def sees(self) -> Tensor:
        """[N, P + N] the places of the trunk, and the nodes, that each node sees."""
        nodes = torch.eye(len(self), dtype=torch.bool)
        trunk = torch.zeros(len(self), len(self.trunk.pieces), dtype=torch.bool)
        for node, before in enumerate(self.before):
            if before < 0:
                trunk[node, : -1 - before] = True
            else:
                nodes[node] |= nodes[before]
                trunk[node] = trunk[before]
        return torch.cat([trunk, nodes], 1)

    def logits(self, network: Network, normalised: bool) -> Tensor:
        """[r] the logits, or log-probabilities, that are read."""
        device, dtype = network.transformer.device, network.transformer.dtype
        nodes = [self._paths[one][place - len(one)] for one, place, _ in self.reads]
        wanted, index = torch.tensor(nodes, device=device).unique(return_inverse=True)
        sees = self.sees().to(device)
        hidden = torch.zeros(sees.shape, dtype=dtype, device=device).masked_fill(~sees, -torch.inf)
        output = _call(
            network,
            self.pieces,
            self.places,
            attention_mask=hidden[None, None],
            past_key_values=self.trunk.cache(),
            logits_to_keep=wanted,
        )
        logits: Tensor = output.logits[0]  # [w, V]
        logits = logits.log_softmax(-1) if normalised else logits
        return logits[index, torch.tensor([piece for *_, piece in self.reads], device=device)]


def logits_of(network: Network, answers: Answers, batches: Sequence[Batch]) -> list[Tensor]:
    """[B, C] of each batch, as a pass over it would give them."""
    examples = [id(example) for batch in batches for example in batch.examples]
    prompts = [row for batch in batches for row in rows_of(batch)]
    texts: dict[Pieces, int] = dict(zip(prompts, examples, strict=True))  # each prompt once
    by_text: dict[int, dict[Pieces, list[Read]]] = {}
    for prompt, text in texts.items():
        for read in dict.fromkeys(read for answer in answers.read for read in _reads(prompt, answer)):
            by_text.setdefault(text, {}).setdefault(read[0], []).append(read)
    trees = _trees(network, list(by_text.values()))
    found = [(tree.reads, tree.logits(network, normalised=not answers.raw)) for tree in trees]
    place = {read: number for number, read in enumerate(read for reads, _ in found for read in reads)}
    flat = torch.cat([values for _, values in found])
    pieces = [
        flat[torch.tensor([[place[read] for read in _reads(prompt, answer)] for prompt in prompts])]
        for answer in answers.read
    ]  # [R, k] of each answer
    return list(answers.combined(pieces).split([len(batch) for batch in batches]))


def _trees(network: Network, texts: Sequence[dict[Pieces, list[Read]]]) -> Iterator[Tree]:
    """What is computed in one pass each: texts of few inputs together, one of many in several passes."""
    together = Tree()
    for inputs in texts:
        alone = Tree()
        for one, reads in inputs.items():
            alone.add(one, reads)
        if len(alone) > NODES:
            yield from _parts(Trunk.of(network, list(inputs)), inputs)
            continue
        if together.reads and len(together) + len(alone) > NODES:
            yield together
            together = Tree()
        for one, reads in inputs.items():
            together.add(one, reads)
    if together.reads:
        yield together


def _parts(trunk: Trunk, inputs: dict[Pieces, list[Read]]) -> Iterator[Tree]:
    """Inputs on one trunk in several trees; neighbours, which share the most, are in the same."""
    tree = Tree(trunk)
    for one in sorted(inputs):
        tree.add(one, inputs[one])
        if len(tree) >= NODES:
            yield tree
            tree = Tree(trunk)
    if tree.reads:
        yield tree


def _reads(prompt: Pieces, answer: Pieces) -> list[Read]:
    """Where the pieces of an answer are read: the first after the prompt, the others after those before."""
    one = (*prompt, *answer[:-1])
    return [(one, len(prompt) - 1 + number, piece) for number, piece in enumerate(answer)]


def rows_of(batch: Batch) -> list[Pieces]:
    """The pieces of each row of a batch, special pieces and the prompt's included."""
    ids = batch.inputs[..., :-1].flatten(1).tolist()
    return [tuple(piece for piece in row if piece >= 0) for row in ids]


def _shared(a: Pieces, b: Pieces) -> int:
    """How many pieces two inputs begin with that are the same."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _call(network: Network, pieces: Sequence[int], places: Sequence[int], **more: Any) -> Any:
    device = network.transformer.device
    vectors = network.table(torch.tensor([pieces], device=device))
    with quiet(), fast_linear(), torch.no_grad():
        return network._call(
            vectors, position_ids=torch.tensor([places], device=device), use_cache=True, **more
        )


def can_share(network: Network) -> bool:
    """Whether a trial with inputs that begin alike gives what a pass over each gives.

    Layers that see only so far back may not see less than a text.
    """
    config = network.transformer.config
    window = getattr(config, "sliding_window", None)
    if not (network.left and network.takes_positions and network.takes_mask and not network.alone):
        return False
    if window is not None and window < network.pieces.limit:
        return False
    known: int = network.table.num_embeddings  # type: ignore[assignment]
    ids = [number % known for number in range(1, PROBED + 1)]
    trunk = tuple(ids)
    inputs = {
        one: [(one, len(one) - 1, ids[-1])] for one in (trunk, trunk[:-1], trunk[1:], trunk[:2] + trunk[3:])
    }
    training = network.transformer.training
    network.transformer.eval()
    try:
        for tree in (*_parts(Trunk.of(network, [trunk, trunk]), inputs), *_trees(network, [inputs])):
            ours = tree.logits(network, normalised=False)
            whole = [
                _call(network, one, list(range(len(one))), logits_to_keep=1).logits[0, -1, piece]
                for one, _, piece in tree.reads
            ]
            if not alike(ours, torch.stack(whole)):
                return False
    except Exception:  # a transformer may refuse such inputs in any way
        return False
    finally:
        network.transformer.train(training)
    return True
