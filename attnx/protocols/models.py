"""What a model must have, and what it may have in addition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import torch
from torch import Tensor, nn

from ..errors import PluginError
from ..types import Batch, Example, TaskData, Trace
from .projections import AttentionProjection


class Model(Protocol):
    """A classifier of examples made of units: an `nn.Module` with these methods.

    Only what the model `provides` is used: `reattend`, and `run` with an `attention`, only if it provides
    "reattend"; `decode` only if it provides "decode". Make the trace with `Trace.of` if the model does not
    show everything.

    Attributes:
        needs: what the task must provide, e.g. "words".
        provides: what the model can do; docs/plugins.md lists the words.
        training: the mode of the module.
        projection: the projection it was built with, if it provides "projection".
    """

    needs: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = (
        "attention",
        "reattend",
        "projection",
        "gradient",
        "hidden",
        "decode",
    )

    training: bool
    projection: AttentionProjection

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: Any) -> Self:
        """Make an untrained model for a task. Use torch's random numbers, which the caller seeds.

        Args:
            data: the examples of the task.
            projection: the function from scores to attention.
            options: an instance of the options class of the model's card.

        Returns:
            The model, on the CPU.
        """
        ...

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Turn examples into tensors; `Batch.padded` serves a model with one column per unit.

        Args:
            examples: the examples.

        Returns:
            The batch, on the CPU.
        """
        ...

    def embed(self, batch: Batch) -> Tensor:
        """Give the vector of every unit; gradients are taken with respect to these.

        Args:
            batch: the batch.

        Returns:
            The embeddings [B, L, E].
        """
        ...

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        """Do a forward pass from embeddings.

        Args:
            batch: the batch.
            embeddings: the vectors of its units [B, L, E].
            attention: attention [B, L] to use instead of the model's own.

        Returns:
            Everything the pass shows.
        """
        ...

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute everything that follows the hidden states.

        Args:
            batch: the batch.
            hidden: hidden states [B, L, H].

        Returns:
            Scores [B, L], attention [B, L] and logits [B, C].
        """
        raise PluginError("a model that provides 'decode' must define it")

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        """Compute the logits for another attention, without encoding the batch again.

        Args:
            trace: a forward pass of this model.
            attention: one attention per example [B, L], or K of them [B, K, L].

        Returns:
            Logits [B, C], or [B, K, C].
        """
        raise PluginError("a model that provides 'reattend' must define it")

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        """Give the parameters that make attention; training applies no weight decay to them.

        Returns:
            The parameters; by default none.
        """
        return ()

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """See `nn.Module.parameters`."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """See `nn.Module.state_dict`."""
        ...

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any:
        """See `nn.Module.load_state_dict`."""
        ...

    def train(self, mode: bool = True) -> Self:
        """See `nn.Module.train`."""
        ...

    def eval(self) -> Self:
        """See `nn.Module.eval`."""
        ...

    def to(self, device: torch.device) -> Self:
        """See `nn.Module.to`."""
        ...

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """See `nn.Module.requires_grad_`."""
        ...
