"""Polars data frames in place of a task."""

from attnx.plugin import Adapter, hookimpl


@hookimpl
def attnx_adapters() -> list[Adapter]:
    return [
        Adapter(
            "task",
            accepts=("polars.dataframe.frame:DataFrame", "polars.lazyframe.frame:LazyFrame"),
            target="attnx_polars.frame_task:task_of",
            options="attnx_polars.options:FrameOptions",
        )
    ]
