"""The words of a refused request: what is wrong, which components would work, and what to do.

`resolve` decides what is refused; this module says it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import PluginError, UsageError
from ..host.cards import CAPABILITIES, Component
from ..host.catalog import Catalog
from .plan import Part

_OF_MODELS = ("attention", "reattend", "projection", "gradient", "hidden", "decode", "deletion")


def lacks(what: str, need: str, task: Part, model: Part, catalog: Catalog) -> UsageError:
    """`what` needs a capability that neither the task nor the model has."""
    return UsageError(
        f"{_capitalised(what)} needs {_in_words(need)}, which task '{task.label}' with model "
        f"'{model.label}' does not provide. {_remedy(need, model, catalog)}"
    )


def no_default(what: str) -> UsageError:
    """A component is not named, and the registry has no default for it."""
    return UsageError(f"No {what} is given and the registry has no default. Name one with --{what}.")


def no_metric(task: Part, model: Part) -> UsageError:
    """No installed metric fits the task and the model."""
    return UsageError(f"No installed metric works for task '{task.label}' with model '{model.label}'.")


def unused_reference(reference: Part, catalog: Catalog) -> UsageError:
    """A reference is given, but no metric compares with it."""
    comparing = [metric.name for metric in catalog.of_kind("metric") if "reference" in metric.needs]
    return UsageError(
        f"The reference '{reference.label}' would not be used: none of the metrics compares with a "
        f"reference. Remove it, or add a metric that does: {_names(comparing)}."
    )


def marked_for_the_label(metric: Part, target: str) -> UsageError:
    """A metric compares with units that are known to matter for the label, and another class is explained."""
    return UsageError(
        f"Metric '{metric.label}' compares with units that are known to matter for the label of each "
        f"example, so it cannot test explanations of '{target}'. Use --target gold, or leave the metric out."
    )


def no_recommended_model(task: Part) -> UsageError:
    """No model is named, and the task recommends none."""
    return UsageError(f"Task '{task.label}' recommends no model. Name one with --model.")


def no_usual_explanation(model: Part, usual: Sequence[str]) -> UsageError:
    """No explanation is named, and the model supports none of the default ones."""
    return UsageError(
        f"Model '{model.label}' supports none of the default explanations ({', '.join(usual)}). "
        "Name one with --explanation."
    )


def projection_not_used(model: Part) -> UsageError:
    """A projection is given to a model that has none to choose."""
    return UsageError(f"Model '{model.label}' has no projection to choose. Remove --projection.")


def already_trained(label: str, what: str) -> UsageError:
    """A trained model is given together with settings of training."""
    return UsageError(f"'{label}' is a trained model and is not trained again. Remove the {what}.")


def one_model_for_seeds(label: str, count: int) -> UsageError:
    """One trained model is given with several seeds."""
    return UsageError(
        f"'{label}' is one trained model; {count} seeds would count it {count} times. "
        "Give one seed, or the model's class, which is trained once per seed."
    )


def asked_twice(what: str, label: str) -> UsageError:
    """The same component is given twice."""
    return UsageError(f"The {what} '{label}' is given twice. Remove one, or change its options.")


def broken_composition(model: str, reason: Exception) -> PluginError:
    """A named model of the registry does not fit its component."""
    return PluginError(f"The registry entry of the named model '{model}' is wrong: {reason}")


def wraps_no_words(part: Part, inner: Part) -> UsageError:
    """A task is made from another whose units are not words."""
    return UsageError(
        f"Task '{part.choice.name}' is made from texts, and task '{inner.label}' is not made of words. Give "
        "a task of texts, e.g. csv:file=PATH."
    )


def _in_words(need: str) -> str:
    return f"{CAPABILITIES[need]} ('{need}')" if need in CAPABILITIES else f"'{need}'"


def _remedy(need: str, model: Part, catalog: Catalog) -> str:
    if need == "reference":
        return "Name one with --reference."
    providers = [
        component.name
        for kind in ("task", "model")
        for component in catalog.of_kind(kind)
        if need in _usually_provides(component)
    ]
    own = f" If your model can, add '{need}' to its provides." if model.component is None else ""
    return f"These do: {_names(providers)}." + (own if need in _OF_MODELS else "")


def _usually_provides(component: Component) -> tuple[str, ...]:
    """What a component provides with its default options."""
    try:
        provides, options, demanding = component.provides, component.load_options(), component.demanding
    except PluginError:  # a broken component that nobody asked for
        return ()
    if options is None or demanding:
        return provides
    return (*provides, *options().also_provides)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none installed"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
