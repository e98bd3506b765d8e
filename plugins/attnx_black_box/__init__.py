"""Functions as models and as importance methods, and scikit-learn classifiers."""

from attnx.plugin import Adapter, hookimpl


@hookimpl
def attnx_adapters() -> list[Adapter]:
    """Functions from texts to probabilities, fitted classifiers of texts, and functions that score words."""
    return [
        Adapter(
            "importance",
            accepts=("builtins:function", "builtins:method", "functools:partial"),
            target="attnx_black_box.function_method:of_function",
        ),
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
