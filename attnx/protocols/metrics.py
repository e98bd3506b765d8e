"""What a metric of examples, or of a whole split, must have."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

from torch import Tensor

from ..types import (
    Axis,
    Conclusion,
    Corpus,
    Evidence,
    Family,
    JointEvidence,
    Measure,
    Passes,
    Sees,
    WithCurve,
)


class _Measuring(Protocol):
    """What metrics of examples and metrics of splits have in common."""

    needs: ClassVar[tuple[str, ...]] = ()
    family: ClassVar[Family]
    sees: ClassVar[Sees] = "units"
    measures: tuple[Measure, ...]
    passes: Passes = 0
    reads_explanation: ClassVar[bool] = True
    cost: ClassVar[str] = ""
    cannot: ClassVar[str] = ""


class Metric(_Measuring, Protocol):
    """A metric with one value per example, or one per example and measure; NaN if it is undefined.

    Attributes:
        needs: what the model must provide; "reference" for a metric that compares two explanations.
        family: what the metric tests.
        sees: what the metric can distinguish: units, hidden states, the attention layer, the scores alone.
        measures: the numbers it gives, each with its direction and bounds.
        passes: about how many passes through the model it takes, without those of the explanation.
        reads_explanation: False for a metric that tests the model, whatever the explanation; it is
            measured once.
        cost: what it costs, in words for `attnx info`; `passes` is the number.
        cannot: what its values cannot tell, in words for `attnx info`.
        whole_split: False; `SplitMetric` measures all examples together.
        follows_training: whether it is also measured on dev after every epoch.
        axis: the axis of its curve, for a metric that draws one.
        joint: False; `JointMetric` measures all explanations of a batch together.
    """

    whole_split: ClassVar[Literal[False]] = False
    joint: ClassVar[Literal[False]] = False
    follows_training: ClassVar[bool] = False
    axis: Axis | None = None

    def __call__(self, evidence: Evidence, /) -> Tensor | WithCurve:
        """Measure one explanation of a batch.

        Args:
            evidence: the batch, the explanation, the reference and the model.

        Returns:
            Values [B] for one measure, [B, M] for several; with the curve if there is an axis.
        """
        ...

    def deletes(self, evidence: Evidence, /) -> Tensor | None:
        """Name the columns whose deletion the metric will ask for with `logits_of_kept`, if it knows them.

        Those of all metrics and explanations are then computed together, in passes that are full.

        Args:
            evidence: what the metric will be called with.

        Returns:
            For each of K deletions the columns [B, K, L]; None where the metric does not say.
        """
        return None


class JointMetric(_Measuring, Protocol):
    """A metric that measures all explanations of a batch together, so that they share what it computes.

    Attributes:
        needs: as for `Metric`, and so are the attributes that follow.
        family: what the metric tests.
        sees: what the metric can distinguish.
        measures: the numbers it gives for each explanation, each with its direction and bounds.
        passes: about how many passes through the model it takes for one explanation of one example.
        reads_explanation: True.
        whole_split: False.
        follows_training: False.
        axis: None.
        joint: True.
    """

    whole_split: ClassVar[Literal[False]] = False
    follows_training: ClassVar[Literal[False]] = False
    axis: None = None
    joint: ClassVar[Literal[True]] = True

    def __call__(self, evidence: JointEvidence, /) -> Tensor:
        """Measure all explanations of a batch.

        Args:
            evidence: the batch, its explanations and the model.

        Returns:
            Values [X, B, M] of X explanations, in the order of `evidence.explanations`; NaN if undefined.
        """
        ...


class SplitMetric(_Measuring, Protocol):
    """A metric with one value per measure for all examples of a split together.

    It is called with every batch first (`keep`), and with all that was kept in the end (`conclude`).

    Attributes:
        needs: as for `Metric`, and so are the attributes that follow.
        family: what the metric tests.
        sees: what the metric can distinguish.
        measures: the numbers it gives, each with its direction and bounds.
        passes: about how many passes through the model it takes for one example.
        reads_explanation: whether it depends on the explanation.
        whole_split: True.
        joint: False.
    """

    whole_split: ClassVar[Literal[True]] = True
    joint: ClassVar[Literal[False]] = False

    def keep(self, evidence: Evidence, corpus: Corpus, /) -> tuple[Tensor, ...]:
        """Take from a batch what is needed later.

        Args:
            evidence: the batch, the explanation, the reference and the model.
            corpus: what is known about the whole split.

        Returns:
            Tensors [B, ...], of the same shape in every batch but for B.
        """
        ...

    def conclude(self, kept: tuple[Tensor, ...], corpus: Corpus, /) -> Conclusion:
        """Compute the values of the split.

        Args:
            kept: what `keep` returned, of all examples in their order [N, ...].
            corpus: what is known about the whole split.

        Returns:
            One value per measure, and curves if there are any.
        """
        ...
