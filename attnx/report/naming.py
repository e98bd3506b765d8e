"""What a measure is called in tables and sentences."""

from typing import Final

ARROWS: Final = {"up": "↑", "down": "↓", "none": ""}


def measure_name(metric: str, measure: str) -> str:
    """Metric and measure, said once where a metric has one measure of its own name."""
    return metric if measure == metric else f"{metric} {measure}"


def with_arrow(name: str, direction: str) -> str:
    """A name with an arrow to the better side, where there is one."""
    return f"{name} {ARROWS[direction]}".rstrip()
