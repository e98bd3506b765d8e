"""Whether the models of a reproduction were trained at all: one that was not says nothing about a claim."""

from __future__ import annotations

from ..reproduction import TrainedModel

LEAST_GAIN = 0.75  # of what the published accuracy is above always predicting one label
LEAST_ABOVE = 0.05  # accuracy above always predicting one label, where no accuracy is published
LEAST_MOVED = 0.05  # share of the attention weight that training moved


def why_undertrained(model: TrainedModel) -> str:
    """Why a model counts as undertrained, with the numbers; empty if it does not."""
    found, constant, published = model.accuracy, model.constant, model.published
    if found is not None and constant is not None:
        if published is not None and published - constant > LEAST_ABOVE:
            if found - constant < LEAST_GAIN * (published - constant):
                return (
                    f"accuracy {found:.2f}; published {published:.2f}, "
                    f"always predicting one label {constant:.2f}"
                )
        elif published is None and found - constant < LEAST_ABOVE:
            return f"accuracy {found:.2f}; always predicting one label {constant:.2f}"
    if model.moved is not None and model.moved < LEAST_MOVED:
        return f"training moved {100 * model.moved:.1f} % of the attention weight"
    return ""
