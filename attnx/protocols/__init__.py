"""The protocols: what each kind of component must have.

Any object with these attributes and methods is accepted. Subclassing a protocol gives the defaults of what
is declared. A component never makes batches, sets seeds, prints, moves tensors between devices or switches
modes: it is called with everything on one device, the model in evaluation mode and gradients off, unless it
declares that it needs them.

B examples, L columns, K alternatives, C classes, E the size of an embedding, H that of a hidden state. On a
mask, True means that a position may be attended to.
"""

from .capable_models import (
    AnsweringModel,
    ClassNamingModel,
    DeletingModel,
    DifferentiatingModel,
    FrozenModel,
    InfluencingModel,
    LayeredModel,
    LayerStatesModel,
    NoticedModel,
    OneLayerModel,
    PrefixModel,
    ReplacingModel,
)
from .drawings import Drawing
from .importances import ImportanceMethod
from .metrics import JointMetric, Metric, SplitMetric
from .models import Model
from .projections import AttentionProjection
from .studies import Study
from .tasks import Task

__all__ = [
    "AnsweringModel",
    "AttentionProjection",
    "ClassNamingModel",
    "DeletingModel",
    "DifferentiatingModel",
    "Drawing",
    "FrozenModel",
    "ImportanceMethod",
    "InfluencingModel",
    "JointMetric",
    "LayerStatesModel",
    "LayeredModel",
    "Metric",
    "Model",
    "NoticedModel",
    "OneLayerModel",
    "PrefixModel",
    "ReplacingModel",
    "SplitMetric",
    "Study",
    "Task",
]
