"""Many inputs of a decoder that begin alike: what they share is computed once.

A position of a decoder sees only what is before it, so inputs that begin with the same pieces have the same
states there. Inputs are put into trees, each a row of a pass: a node is computed once, and sees those on its
way from the root. The trees of a text of many inputs have a trunk, whose states are computed before them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnx.formulas import fast_linear
from attnx.plugin import Batch

from .checkpoints import quiet
from .first_position import alike
from .language.answers import Answers
from .network import PROBED, Network

ROW = 128  # nodes of a row: with more, comparing with nodes that are masked takes over
SPARE = 4  # a position that is only read takes so much less than one that is computed
PASS = 2**11  # nodes of a pass
NODES = 512  # a text with more has a trunk: before, another pass takes longer than computing it in each row

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
        output = _call(network, [found], [list(range(len(found)))], logits_to_keep=1)
        layers = tuple((layer.keys, layer.values) for layer in output.past_key_values.layers)
        return cls(tuple(found), layers)

    def cache(self, rows: int) -> Any:
        """The states as a transformer takes them, for so many rows."""
        if not self.layers:
            return None
        from transformers import DynamicCache

        kept = DynamicCache()
        for number, (keys, values) in enumerate(self.layers):
            kept.update(keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1), number)
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

    def missing(self, one: Pieces, reads: Sequence[Read]) -> int:
        """How many nodes an input would add."""
        node = -1 - self._branch(one, reads)
        for place in range(-1 - node, len(one)):
            if (node, one[place]) not in self._known:
                return len(one) - place
            node = self._known[node, one[place]]
        return 0

    def add(self, one: Pieces, reads: Sequence[Read]) -> None:
        """Take in an input and what is read of it; what is read is computed even if it is on the trunk."""
        at = self._branch(one, reads)
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

    def _branch(self, one: Pieces, reads: Sequence[Read]) -> int:
        """Where an input leaves the trunk."""
        return min(_shared(one, self.trunk.pieces), *(place for _, place, _ in reads))

    @property
    def nodes_read(self) -> list[int]:
        """[r] the node that each is read from."""
        return [self._paths[one][place - len(one)] for one, place, _ in self.reads]

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


def _logits(network: Network, trees: Sequence[Tree], normalised: bool) -> Tensor:
    """[r] the logits, or log-probabilities, that are read of trees with the same trunk, in one pass."""
    device, dtype = network.transformer.device, network.transformer.dtype
    trunk, width = trees[0].trunk, max(map(len, trees))
    sees = torch.zeros(len(trees), width, len(trunk.pieces) + width, dtype=torch.bool)
    sees[:, :, len(trunk.pieces) :] = torch.eye(width, dtype=torch.bool)  # padding sees itself
    for row, tree in enumerate(trees):
        sees[row, : len(tree), : len(trunk.pieces) + len(tree)] = tree.sees()
    hidden = torch.zeros(sees.shape, dtype=dtype).masked_fill(~sees, -torch.inf)
    nodes = [(row, node) for row, tree in enumerate(trees) for node in tree.nodes_read]
    wanted, index = torch.tensor(nodes, device=device).unique(dim=0, return_inverse=True)

    def where_it_is_read(_: Any, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (states[0][wanted[:, 0], wanted[:, 1]][None], *states[1:])  # [1, w, H]

    head = network.transformer.get_output_embeddings().register_forward_pre_hook(where_it_is_read)
    try:
        output = _call(
            network,
            [[*tree.pieces, *[0] * (width - len(tree))] for tree in trees],
            [[*tree.places, *[0] * (width - len(tree))] for tree in trees],
            attention_mask=hidden[:, None].to(device),
            past_key_values=trunk.cache(len(trees)),
        )
    finally:
        head.remove()
    logits: Tensor = output.logits[0]  # [w, V]
    logits = logits.log_softmax(-1) if normalised else logits
    pieces = [piece for tree in trees for *_, piece in tree.reads]
    return logits[index, torch.tensor(pieces, device=device)]


def logits_of(network: Network, answers: Answers, batches: Sequence[Batch]) -> list[Tensor]:
    """[B, C] of each batch, as a pass over it would give them."""
    examples = [id(example) for batch in batches for example in batch.examples]
    prompts = [row for batch in batches for row in rows_of(batch)]
    texts: dict[Pieces, int] = dict(zip(prompts, examples, strict=True))  # each prompt once
    by_text: dict[int, dict[Pieces, list[Read]]] = {}
    for prompt, text in texts.items():
        for read in dict.fromkeys(read for answer in answers.read for read in _reads(prompt, answer)):
            by_text.setdefault(text, {}).setdefault(read[0], []).append(read)
    place: dict[Read, int] = {}
    values: list[Tensor] = []
    for trees in _passes(_trees(network, list(by_text.values()))):
        values.append(_logits(network, trees, normalised=not answers.raw))
        for read in (read for tree in trees for read in tree.reads):
            place[read] = len(place)
    flat = torch.cat(values)
    pieces = [
        flat[torch.tensor([[place[read] for read in _reads(prompt, answer)] for prompt in prompts])]
        for answer in answers.read
    ]  # [R, k] of each answer
    return list(answers.combined(pieces).split([len(batch) for batch in batches]))


def _trees(network: Network, texts: Sequence[dict[Pieces, list[Read]]]) -> Iterator[Tree]:
    """The rows of passes: texts of few inputs together, one of many by itself on a trunk."""
    open_ = Tree()
    for inputs in texts:
        whole = Tree()
        for one, reads in inputs.items():
            whole.add(one, reads)
        if len(whole) > NODES:
            last = yield from _filled(Tree(Trunk.of(network, list(inputs))), inputs)
            yield last
        else:
            open_ = yield from _filled(open_, inputs)
    if open_.reads:
        yield open_


def _filled(tree: Tree, inputs: dict[Pieces, list[Read]]) -> Generator[Tree, None, Tree]:
    """Put inputs into trees on the same trunk, neighbours, which share the most, into the same.

    Those that are full are given at once, the last one at the end.
    """
    for one in sorted(inputs):
        if tree.reads and len(tree) + tree.missing(one, inputs[one]) > ROW:
            yield tree
            tree = Tree(tree.trunk)
        tree.add(one, inputs[one])
    return tree


def _passes(trees: Iterable[Tree]) -> Iterator[list[Tree]]:
    """Trees that are computed at once: on the same trunk, and not more than a processor keeps at hand."""
    together: list[Tree] = []
    for tree in trees:
        width = max(map(len, (*together, tree))) + len(tree.trunk.pieces) // SPARE
        other = together and together[0].trunk is not tree.trunk
        if other or (together and width * (len(together) + 1) > PASS):
            yield together
            together = []
        together.append(tree)
    if together:
        yield together


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


def _call(network: Network, pieces: list[list[int]], places: list[list[int]], **more: Any) -> Any:
    device = network.transformer.device
    vectors = network.table(torch.tensor(pieces, device=device))
    with quiet(), fast_linear(), torch.no_grad():
        return network._call(
            vectors, position_ids=torch.tensor(places, device=device), use_cache=True, **more
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
        trees = _trees(network, [inputs])
        on_trunk = Tree(Trunk.of(network, [trunk, trunk]))
        for one, reads in inputs.items():
            on_trunk.add(one, reads)
        for tree in (*trees, on_trunk):
            ours = _logits(network, [tree, tree], normalised=False)
            whole = [
                _call(network, [list(one)], [list(range(len(one)))], logits_to_keep=1).logits[0, -1, piece]
                for one, _, piece in tree.reads * 2
            ]
            if not alike(ours, torch.stack(whole)):
                return False
    except Exception:  # a transformer may refuse such inputs in any way
        return False
    finally:
        network.transformer.train(training)
    return True
