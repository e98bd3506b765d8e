from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import (
    Importance,
    JointEvidence,
    JointMetric,
    Measure,
    Order,
    RemovalColumn,
    RemovalName,
    TestSetting,
)

from .erasure_curve import set_sizes
from .options import FaithfulnessOptions
from .order_search import first_round, greedy_order
from .order_values import OrderValues, Outputs, place_in_order, random_places, values_of
from .removals import Deleting, Removal, Replacing

SEARCH_DRAWS = 3  # of replacements that the search tries; it is not judged by these
Columns = dict[RemovalColumn, Tensor]  # [B] each


class Faithfulness(JointMetric):
    """The removal test that decides the verdict: how far an explanation gets from random to the best order.

    Units (words, image patches, ...) are removed in two ways, `delete` (the example gets shorter) and
    `replace` (units of training examples, drawn at random, stand in their place), and two questions are
    asked. Comprehensiveness: how far does the output fall without the top ⌈k·n⌉ of n units? It falls at
    most to the usual output for that class (the mean over other examples); then all support is gone.
    Sufficiency: how much of the output is lost with only these units? At least 0, as keeping more than
    the whole gives is enough. Both are means over the shares k. `delete` and `replace` are
    comprehensiveness − sufficiency, −2 to 1; higher is better.

    Each is compared with the mean over random orders, and with the best order that a search finds for the
    same example and removal: greedy under deletion; by the effect of each unit, on other draws than those
    that are judged, under replacement. The verdict is the share of the way from random to best. It also
    tests sizes apart from signs: scores that are never negative get the signs of leave-one-out and are
    compared with random sizes of the same signs. Costs about six times leave-one-out, once for all
    explanations, and some 30 passes for each. It cannot tell whether people understand the explanation.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"

    def __init__(self, options: FaithfulnessOptions) -> None:
        self.options = options
        self.measures = tuple(_measure(column) for column in _columns(options))
        self.passes = 26.0 * len(options.bins)

    def __call__(self, evidence: JointEvidence) -> Tensor:
        batch, target = evidence.trace.batch, next(iter(evidence.explanations.values())).target
        donors = evidence.corpus.donors or batch.examples
        outputs = Outputs(
            p=evidence.trace.logits.double().softmax(-1).gather(1, target[:, None])[:, 0],
            usual=_usual_output(evidence)[target],
        )
        tests: list[Removal] = [Deleting(evidence.model, batch, target)]
        if "replace" in self.options.removals:
            draws = self.options.draws + SEARCH_DRAWS
            tests.append(
                Replacing.of(evidence.model, batch, target, donors, evidence.random.to("faithfulness"), draws)
            )
        found: list[Columns] = [{} for _ in evidence.explanations]
        searched: dict[RemovalName, Tensor] = {}
        for removal in tests:
            test = _RemovalTest(evidence, removal, outputs, self.options)
            shared = test.shared(searched)
            for columns, importance in zip(found, evidence.explanations.values(), strict=True):
                columns |= shared | test.of(importance)
        order = list(_columns(self.options))
        return torch.stack([torch.stack([columns[c] for c in order], dim=1) for columns in found])


def _usual_output(evidence: JointEvidence) -> Tensor:
    """[C] the mean output of the model over the donors."""
    donors = evidence.corpus.donors
    if not donors:
        return evidence.trace.logits.double().softmax(-1).mean(0)
    batch = evidence.model.encode(donors).to(evidence.trace.logits.device)
    logits = evidence.model.run(batch, evidence.model.embed(batch)).logits
    return logits.double().softmax(-1).mean(0)


class _RemovalTest:
    """All orders of one batch under one removal."""

    def __init__(
        self, evidence: JointEvidence, removal: Removal, outputs: Outputs, options: FaithfulnessOptions
    ) -> None:
        self.batch, self.removal, self.outputs = evidence.trace.batch, removal, outputs
        self.random: Randomness = evidence.random.to("faithfulness")
        self.options = options
        replaces = removal.name == "replace"
        self.draws = tuple(range(options.draws)) if replaces else (0,)
        self.search_draws = tuple(range(options.draws, options.draws + SEARCH_DRAWS)) if replaces else (0,)

    def shared(self, searched: dict[RemovalName, Tensor]) -> Columns:
        """What is the same for every explanation; `searched` passes the order that deletion found on."""
        name = self.removal.name
        first = first_round(self.removal, self.batch, self.outputs, self.search_draws)
        self.signs = first.effect.sign()  # [B, L]
        self.chance = self._random_orders(signed=False)
        self.chance_signed = self._random_orders(signed=True)
        best = first.score
        if name == "delete":
            best = greedy_order(
                self.removal, self.batch, self.outputs, self.options.bins, self.search_draws, first
            )
        searched[name] = best
        search, worst = self._values(best), self._values(-best.nan_to_num(neginf=0.0))
        columns = {
            **_questions(name, "random", self.chance, self.options.bins),
            **_questions(name, "search", search, self.options.bins),
            RemovalColumn(name, "worst"): worst.both.mean((1, 2)),
            RemovalColumn(name, "random-signed"): self.chance_signed.both.mean((1, 2)),
            RemovalColumn(name, None): self._disturbance(),
        }
        if name == "replace":
            columns |= _questions(name, "delete-search", self._values(searched["delete"]))
        return columns

    def of(self, importance: Importance) -> Columns:
        """The columns of one explanation; NaN for an example with a score that is not finite."""
        name, scores = self.removal.name, importance.values
        finite = scores.isfinite().all(1)  # [B]
        own = self._values(scores.nan_to_num())
        columns = {
            **_questions(name, "explanation", own, self.options.bins),
            RemovalColumn(name, "explanation"): own.both.mean((1, 2)),
        }
        for setting, (sizes, draws) in self._settings().items():
            gain = own.both[:, sizes][..., draws] - self.chance.both[:, sizes][..., draws]
            columns[RemovalColumn(name, "explanation", setting=setting)] = gain.mean((1, 2))
        unsigned = (scores >= 0).all(1) & (not importance.signed)  # [B]
        if unsigned.any():
            signed = self._values(scores.nan_to_num().abs() * self.signs).both.mean((1, 2))
        else:
            signed = torch.full_like(self.outputs.p, torch.nan)
        columns[RemovalColumn(name, "signed")] = signed.masked_fill(~unsigned, torch.nan)
        return {c: values.masked_fill(~finite, torch.nan) for c, values in columns.items()}

    def _values(self, scores: Tensor) -> OrderValues:
        place = place_in_order(scores, self.batch, self.random)
        return values_of(place, self.removal, self.batch, self.outputs, self.options.bins, self.draws)

    def _random_orders(self, *, signed: bool) -> OrderValues:
        """The mean over random orders; with signs, over random sizes of the signs of leave-one-out."""
        found = []
        for number, place in enumerate(random_places(self.batch, self.random, self.options.orders)):
            if signed:
                sizes = 1.0 + place.amax() - place  # [B, L] above 0
                place = place_in_order(sizes * self.signs, self.batch, self.random.to(f"signs {number}"))
            found.append(
                values_of(place, self.removal, self.batch, self.outputs, self.options.bins, self.draws)
            )
        return OrderValues(
            falls=torch.stack([values.falls for values in found]).mean(0),
            losses=torch.stack([values.losses for values in found]).mean(0),
        )

    def _disturbance(self) -> Tensor:
        """[B] how far the output moves when random units are removed, whatever the explanation."""
        mask = self.batch.mask
        sizes = set_sizes(mask, self.options.bins)  # [B, T]
        rows = torch.arange(len(mask), device=mask.device)[:, None].expand(sizes.shape).flatten()  # [B·T]
        moved = []
        for place in random_places(self.batch, self.random, self.options.orders):
            gone = (place[:, None] < sizes[..., None]) & mask[:, None]  # [B, T, L]
            q = self.removal.probabilities(rows, gone.flatten(0, 1), self.draws)  # [B·T, D]
            change = (self.outputs.p[rows, None] - q).abs().mean(1)
            moved.append(change.view(sizes.shape).mean(1))
        return torch.stack(moved).mean(0)

    def _settings(self) -> Mapping[TestSetting, tuple[slice, slice]]:
        """Parts of the test, each by its set sizes and draws: the sign of a result must hold in all."""
        middle, everything = (len(self.options.bins) + 1) // 2, slice(None)
        found: dict[TestSetting, tuple[slice, slice]] = {
            "small sets": (slice(middle), everything),
            "large sets": (slice(len(self.options.bins) // 2, None), everything),
        }
        if len(self.draws) > 1:
            half = len(self.draws) // 2
            found |= {"first draws": (everything, slice(half)), "last draws": (everything, slice(half, None))}
        return found


def _questions(
    removal: RemovalName, order: Order, values: OrderValues, bins: tuple[float, ...] = ()
) -> Columns:
    """The mean over set sizes, and the value of each of these sizes for the curves of the page."""
    columns = {
        RemovalColumn(removal, order, "comprehensiveness"): values.comprehensiveness,
        RemovalColumn(removal, order, "sufficiency"): values.sufficiency,
    }
    for at, size in enumerate(bins):
        fall, loss = values.falls[:, at].mean(-1), values.losses[:, at].mean(-1)  # [B]
        columns[RemovalColumn(removal, order, "comprehensiveness", size=size)] = fall
        columns[RemovalColumn(removal, order, "sufficiency", size=size)] = loss
    return columns


def _columns(options: FaithfulnessOptions) -> Iterator[RemovalColumn]:
    """The columns of the test in the order of the measures: first those that are shown."""
    for removal in options.removals:
        yield RemovalColumn(removal, "explanation")
        yield RemovalColumn(removal, "explanation", "comprehensiveness")
        yield RemovalColumn(removal, "explanation", "sufficiency")
    for removal in options.removals:
        orders: list[Order] = ["random", "search"]
        for order in orders if removal == "delete" else [*orders, "delete-search"]:
            yield RemovalColumn(removal, order, "comprehensiveness")
            yield RemovalColumn(removal, order, "sufficiency")
        yield from (RemovalColumn(removal, order) for order in ("worst", "signed", "random-signed"))
        yield RemovalColumn(removal, "explanation", setting="small sets")
        yield RemovalColumn(removal, "explanation", setting="large sets")
        if removal == "replace" and options.draws > 1:
            yield RemovalColumn(removal, "explanation", setting="first draws")
            yield RemovalColumn(removal, "explanation", setting="last draws")
        yield RemovalColumn(removal, None)
        sized: tuple[Order, ...] = ("explanation", "random", "search")
        for order, size in product(sized, options.bins):
            yield RemovalColumn(removal, order, "comprehensiveness", size=size)
            yield RemovalColumn(removal, order, "sufficiency", size=size)


def _measure(column: RemovalColumn) -> Measure:
    """The measure of a column: its name, direction and bounds."""
    question = column.question
    shown = column.order == "explanation" and column.setting == "all" and column.size is None
    parts: list[str] = [column.removal]
    parts += [] if column.order == "explanation" else [column.order or "disturbance"]
    parts += [part for part in (question, None if column.setting == "all" else column.setting) if part]
    parts += [] if column.size is None else [f"{column.size:g}"]
    name = "-".join(parts).replace(" ", "-")
    if not shown:
        return Measure(name, "none", (-3, 3), column=column, shown=False)
    if question is None:
        return Measure(name, "up", (-2, 1), column=column)
    return Measure(name, "up" if question == "comprehensiveness" else "down", (-1, 1), column=column)
