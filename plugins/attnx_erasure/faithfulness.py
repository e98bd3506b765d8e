from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    cost = "about six times leave-one-out, once for all explanations, and some 30 passes for each"
    cannot = "whether people understand the explanation"

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
            for columns, more in zip(found, test.columns(searched), strict=True):
                columns |= more
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
        self.explanations = tuple(evidence.explanations.values())
        self.random: Randomness = evidence.random.to("faithfulness")
        self.options = options
        replaces = removal.name == "replace"
        self.draws = tuple(range(options.draws)) if replaces else (0,)
        self.search_draws = tuple(range(options.draws, options.draws + SEARCH_DRAWS)) if replaces else (0,)

    def columns(self, searched: dict[RemovalName, Tensor]) -> list[Columns]:
        """The columns of every explanation; `searched` passes the order that deletion found on."""
        name, orders = self.removal.name, _Orders()
        first = first_round(self.removal, self.batch, self.outputs, self.search_draws)
        signs = first.effect.sign()  # [B, L]
        best = first.score
        if name == "delete":
            best = greedy_order(
                self.removal, self.batch, self.outputs, self.options.bins, self.search_draws, first
            )
        searched[name] = best
        chance = random_places(self.batch, self.random, self.options.orders)
        asked = {
            "random": orders.add(*chance),
            "random-signed": orders.add(*self._with_signs(chance, signs)),
            "search": orders.add(self._place(best)),
            "worst": orders.add(self._place(-best.nan_to_num(neginf=0.0))),
            "delete-search": orders.add(self._place(searched["delete"])),
        }
        own = [orders.add(self._place(e.values.nan_to_num())) for e in self.explanations]
        signed = [
            orders.add(self._place(e.values.nan_to_num().abs() * signs)) if _unsigned(e).any() else None
            for e in self.explanations
        ]
        values = values_of(
            orders.places, self.removal, self.batch, self.outputs, self.options.bins, self.draws
        )
        shared = self._shared({order: values[at] for order, at in asked.items()})
        return [
            shared
            | self._of(importance, values[at], values[asked["random"]], with_signs and values[with_signs])
            for importance, at, with_signs in zip(self.explanations, own, signed, strict=True)
        ]

    def _shared(self, values: Mapping[str, OrderValues]) -> Columns:
        """What is the same for every explanation."""
        name = self.removal.name
        columns = {
            **_questions(name, "random", values["random"], self.options.bins),
            **_questions(name, "search", values["search"], self.options.bins),
            RemovalColumn(name, "worst"): values["worst"].both.mean((1, 2)),
            RemovalColumn(name, "random-signed"): values["random-signed"].both.mean((1, 2)),
            # how far the output moves when random units are removed, whatever the explanation
            RemovalColumn(name, None): values["random"].moves.mean((0, 2, 3)),
        }
        if name == "replace":
            columns |= _questions(name, "delete-search", values["delete-search"])
        return columns

    def _of(
        self, importance: Importance, own: OrderValues, chance: OrderValues, with_signs: OrderValues | None
    ) -> Columns:
        """The columns of one explanation; NaN for an example with a score that is not finite."""
        name = self.removal.name
        columns = {
            **_questions(name, "explanation", own, self.options.bins),
            RemovalColumn(name, "explanation"): own.both.mean((1, 2)),
        }
        for setting, (sizes, draws) in self._settings().items():
            gain = own.both[:, sizes][..., draws] - chance.both[:, sizes][..., draws]
            columns[RemovalColumn(name, "explanation", setting=setting)] = gain.mean((1, 2))
        signed = torch.full_like(self.outputs.p, torch.nan)
        if with_signs is not None:
            signed = with_signs.both.mean((1, 2)).masked_fill(~_unsigned(importance), torch.nan)
        columns[RemovalColumn(name, "signed")] = signed
        finite = importance.values.isfinite().all(1)  # [B]
        return {c: values.masked_fill(~finite, torch.nan) for c, values in columns.items()}

    def _place(self, scores: Tensor) -> Tensor:
        return place_in_order(scores, self.batch, self.random)

    def _with_signs(self, places: Sequence[Tensor], signs: Tensor) -> Iterator[Tensor]:
        """Random sizes, as in these random orders, with the signs of leave-one-out."""
        for number, place in enumerate(places):
            sizes = 1.0 + place.amax() - place  # [B, L] above 0
            yield place_in_order(sizes * signs, self.batch, self.random.to(f"signs {number}"))

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


class _Orders:
    """Orders that are tried together."""

    def __init__(self) -> None:
        self._places: list[Tensor] = []

    def add(self, *places: Tensor) -> slice:
        """Take the places of columns in some orders [B, L], and say where their values will be."""
        self._places += places
        return slice(len(self._places) - len(places), len(self._places))

    @property
    def places(self) -> Tensor:
        """[K, B, L]."""
        return torch.stack(self._places)


def _unsigned(importance: Importance) -> Tensor:
    """[B] whether the scores of each example are sizes without signs."""
    unsigned: Tensor = (importance.values >= 0).all(1) & (not importance.signed)
    return unsigned


def _questions(
    removal: RemovalName, order: Order, values: OrderValues, bins: tuple[float, ...] = ()
) -> Columns:
    """The mean over set sizes, and the value of each of these sizes for the curves of the page."""
    columns = {
        RemovalColumn(removal, order, "comprehensiveness"): values.comprehensiveness,
        RemovalColumn(removal, order, "sufficiency"): values.sufficiency,
    }
    for at, size in enumerate(bins):
        fall, loss = values.falls[:, :, at].mean((0, 2)), values.losses[:, :, at].mean((0, 2))  # [B]
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
