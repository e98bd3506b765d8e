"""Whether examples that were shortened to test an explanation still look like training examples."""

from attnx.plugin import Card, hookimpl

MADSEN = 'Madsen, Reddy and Chandar, "Faithfulness Measurable Masked Language Models", ICML 2024 (MaSF)'


@hookimpl
def attnx_metrics() -> list[Card]:
    """A caution next to erasure; it decides nothing."""
    return [
        Card("in-distribution", "attnx_in_distribution.in_distribution:InDistribution",
             options="attnx_in_distribution.options:InDistributionOptions", citation=MADSEN),
    ]  # fmt: skip
