"""What a model may have in addition; each protocol names the word that it provides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor, nn

from ..formulas.layer_states import LayerStates
from ..formulas.layers import Layers
from ..types import Batch, Example, ExplainedOutput, GradientPoints, TaskData, Trace
from .models import Model


class DeletingModel(Model, Protocol):
    """A model that deletes each unit in turn faster than by encoding the example again; exactly as well.

    It provides "fast-deletion".
    """

    def without_each(self, trace: Trace) -> Tensor:
        """Delete the unit of each column in turn.

        Args:
            trace: a forward pass of this model.

        Returns:
            Logits [B, L, C]; those outside the mask are not used.
        """
        ...


class PrefixModel(Model, Protocol):
    """A model that gives only the output of many inputs faster than by passes; exactly as well.

    It provides "fast-logits".
    """

    def logits_of(self, batches: Sequence[Batch]) -> list[Tensor]:
        """Run batches without gradients, and without anything but the output.

        Args:
            batches: the batches; rows of the same example share most.

        Returns:
            The logits [B, C] of each.
        """
        ...


class FrozenModel(Model, Protocol):
    """A model whose hidden states training does not change: they are computed once for all epochs.

    It provides "frozen-states", and "decode", which gives everything else.

    Attributes:
        frozen_part: the module that computes them; its weights and buffers do not change.
        frozen_settings: what the states depend on besides weights, inputs and code, e.g. options.
    """

    @property
    def frozen_part(self) -> nn.Module:
        """The module that computes the states."""
        ...

    @property
    def frozen_settings(self) -> str:
        """What the states depend on besides weights, inputs and code."""
        ...

    def frozen_states(self, batch: Batch) -> Tensor:
        """Compute the hidden states, which do not depend on anything that is trained.

        Args:
            batch: the batch.

        Returns:
            The hidden states [B, L, H] that `decode` reads.
        """
        ...


class InfluencingModel(Model, Protocol):
    """A model that computes influence faster than by one backward pass per hidden state; exactly as well.

    It provides "fast-influence".
    """

    def influence(self, trace: Trace) -> Tensor:
        """Compute the influence ‖∂‖h_p‖₂ / ∂X_i‖₂ of every unit i on every hidden state p.

        Args:
            trace: a forward pass of this model.

        Returns:
            The influence [B, P, L]; that outside the mask is not used.
        """
        ...


class DifferentiatingModel(Model, Protocol):
    """A model that gives gradients at many points faster than by a pass for each; exactly as well.

    It provides "fast-gradients".
    """

    def gradients_at(
        self, trace: Trace, points: GradientPoints, output: ExplainedOutput
    ) -> tuple[Tensor, Tensor]:
        """Add up the gradients of an output at several points, with the weights of the points.

        Args:
            trace: a forward pass of this model.
            points: the points of every example of the batch.
            output: the number of every row that is differentiated, from logits [R, C] and rows [R].

        Returns:
            The sum of gradient·direction [B, L], and the sum of the gradients themselves [B, L, E].
        """
        ...


class ReplacingModel(Model, Protocol):
    """A model that replaces embeddings faster than by a whole pass for each input; exactly as well.

    It provides "fast-replacement".
    """

    def replaced(self, trace: Trace, rows: Tensor, absent: Tensor, baseline: Tensor) -> Tensor:
        """Replace the embeddings of some columns.

        Args:
            trace: a forward pass of this model.
            rows: which examples [R]; one may occur several times.
            absent: for each of them the columns that are replaced [R, L].
            baseline: what replaces the embeddings of the batch [B, L, E].

        Returns:
            Logits [R, C].
        """
        ...


class ClassNamingModel(Model, Protocol):
    """A trained model that knows the names of its classes.

    It provides "own-classes". Where it is not trained any further, its classes are the labels of the task.
    """

    def class_names(self, options: Any, data: TaskData) -> Sequence[str]:
        """Give the names of the classes in the order of the logits.

        Args:
            options: the options of the model.
            data: the examples, for a model that has no names for some of its classes.

        Returns:
            One name for each class.
        """
        ...


class NoticedModel(Model, Protocol):
    """A model with remarks for the reader of a report. It provides "notices".

    Attributes:
        notices: what a reader of the report must know about this model, one sentence each.
    """

    notices: tuple[str, ...]


class AnsweringModel(Model, Protocol):
    """A language model that answers in words of its own. It provides "answers"."""

    def generate(self, example: Example, longest: int) -> tuple[int, ...]:
        """Answer an example, at each step with the most probable piece.

        Args:
            example: the example.
            longest: the most pieces of the answer.

        Returns:
            The pieces, without the one that ends the answer.
        """
        ...

    def pieces_of(self, answer: str) -> tuple[int, ...]:
        """Cut an answer into the pieces that it has after the prompt.

        Args:
            answer: the words of the answer.

        Returns:
            The pieces; none if there are no words.
        """
        ...

    def texts_of(self, pieces: Sequence[int]) -> tuple[str, ...]:
        """Write pieces as text.

        Args:
            pieces: the pieces.

        Returns:
            The text of each.
        """
        ...

    def text_of(self, pieces: Sequence[int]) -> str:
        """Write an answer as text.

        Args:
            pieces: its pieces.

        Returns:
            The whole text.
        """
        ...

    def answering(self, answers: Sequence[tuple[int, ...]], after: tuple[int, ...] = ()) -> Model:
        """Give the same model with answers as its classes.

        Args:
            answers: the pieces of each; of a single answer the other class is any other answer.
            after: pieces that follow the prompt, before the answer.

        Returns:
            The model; its weights are shared.
        """
        ...


class LayeredModel(Model, Protocol):
    """A model with several layers and heads of attention.

    It provides "layers".
    """

    def layers(self, batch: Batch, embeddings: Tensor) -> Layers:
        """Do a forward pass from embeddings that shows the attention of all layers.

        Args:
            batch: the batch.
            embeddings: the vectors of its units [B, L, E].

        Returns:
            The attention of every layer and head; it can be differentiated.
        """
        ...


class OneLayerModel(Model, Protocol):
    """A model that shows the attention of one layer without keeping that of the others.

    It provides "one-layer".
    """

    def one_layer(self, batch: Batch, embeddings: Tensor, layer: int, query: str) -> Layers:
        """Do a forward pass from embeddings that shows the attention of one layer.

        Args:
            batch: the batch.
            embeddings: the vectors of its units [B, L, E].
            layer: from 0 at the bottom; -1 is the last.
            query: the position that attends: first, last, mean of all, or own, which the model answers from.

        Returns:
            That layer alone, from the positions that were asked for; if it is one, weights are [B, M, 1, T].
        """
        ...


class LayerStatesModel(Model, Protocol):
    """A model of several layers of self-attention whose states can be read.

    It provides "layer-states".
    """

    def layer_states(self, batch: Batch, embeddings: Tensor) -> LayerStates:
        """Do a forward pass from embeddings that shows the states of all layers.

        Args:
            batch: the batch.
            embeddings: the vectors of its units [B, L, E].

        Returns:
            The states of every layer, and what attention hands on in each.
        """
        ...
