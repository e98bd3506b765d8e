import numpy as np

from attnx.plugin import Finding, Lab, Study

from .correlations import CORRELATIONS, Array
from .options import SparsitySweepOptions


class SparsitySweep(Study):
    """How importance and its agreement with attention change as attention becomes sparser.

    A model is trained with sparsegen at every λ of the grid (a larger λ is sparser). Reported for every
    reference: the entropy of its scores relative to the maximum, Kendall's τ-b of attention with it, the
    largest τ-b that attention's ties allow (it falls as weights become 0), and the correlation of λ with
    the means of all three over the test split. A negative correlation with entropy means that importance
    is less spread out when attention is sparser; the paper's text reads its own negative values the other
    way round. Trains one model per λ and seed.
    """

    needs = ("attention", "projection", "gradient")

    def __init__(self, options: SparsitySweepOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        grid = self.options.grid
        plans = [  # resolved before any training, so that an impossible reference is rejected early
            lab.variant(
                projection=f"sparsegen:lam={lam}",
                references=self.options.references,
                metrics=("kendall", "importance-entropy"),
            )
            for lam in grid
        ]
        findings: list[Finding] = []
        courses: dict[tuple[str, str], list[Array]] = {}  # means [S] by λ
        for lam, plan in zip(grid, plans, strict=True):
            models = [lab.model(seed, plan) for seed in lab.seeds]
            name = f"λ = {lam:g}"
            correct = np.stack([lab.outputs(model).correct.numpy() for model in models])  # [S, N]
            findings.append(Finding(name, "accuracy", "up", correct, bounds=(0, 1)))
            for reference in self.options.references:
                entropy, tau, ceiling = [], [], []
                for model, seed in zip(models, lab.seeds, strict=True):
                    measured = lab.measure(
                        model,
                        seed,
                        ["importance-entropy", "kendall"],
                        explanations=["attention", reference],
                        references=[reference],
                    )
                    by_name = {
                        (m.explanation, measure.name): m.values[:, column]
                        for m in measured
                        for column, measure in enumerate(m.measures)
                    }
                    entropy.append(by_name[reference, "importance-entropy"])
                    tau.append(by_name["attention", "tau"])
                    ceiling.append(by_name["attention", "ceiling"])
                for measure, values, lowest in (
                    ("entropy of", entropy, 0),
                    ("kendall with", tau, -1),
                    ("ceiling with", ceiling, 0),
                ):
                    stacked = np.stack(values)  # [S, N]
                    found = Finding(name, f"{measure} {reference}", "none", stacked, bounds=(lowest, 1))
                    findings.append(found)
                    courses.setdefault((measure, reference), []).append(_means(found.values))
        return findings + [
            self._correlated(lab, measure, reference, np.stack(course, axis=1))
            for (measure, reference), course in courses.items()
        ]

    def _correlated(self, lab: Lab, measure: str, reference: str, course: Array) -> Finding:
        """The correlation of λ with the means [S, grid] of each seed."""
        correlate = CORRELATIONS[self.options.correlation]
        values = np.array([[correlate(np.array(self.options.grid), means)] for means in course])  # [S, 1]
        name = f"{self.options.correlation} with λ"
        finding = Finding(name, f"{measure} {reference}", "none", values, bounds=(-1, 1))
        published = self.options.correlation == "kendall" and (measure, reference) == (
            "entropy of",
            "gradient",
        )
        return lab.with_published(finding, "meister-table-2", finding.measure) if published else finding


def _means(values: Array) -> Array:
    """[S, N] -> [S] means over the defined values; NaN where there are none."""
    defined = ~np.isnan(values)
    counts = defined.sum(1)
    sums = np.where(defined, values, 0.0).sum(1)
    return np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)
