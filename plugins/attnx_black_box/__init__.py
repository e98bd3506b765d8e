"""Models of which only the output can be asked: functions, and scikit-learn classifiers."""

from attnx.plugin import Adapter, hookimpl


@hookimpl
def attnx_adapters() -> list[Adapter]:
    """Functions from texts to probabilities, and fitted scikit-learn classifiers of texts."""
    return [
        Adapter(
            "model",
            accepts=("builtins:function", "builtins:method", "functools:partial"),
            target="attnx_black_box.function_model:of_function",
        ),
        Adapter(
            "model",
            accepts=("sklearn.base:BaseEstimator",),
            target="attnx_black_box.function_model:of_estimator",
        ),
    ]
