"""How the output changes when units are dimmed in proportion to their scores, not deleted."""

from attnx.plugin import Card, hookimpl

ZHAO = (
    'Zhao and Aletras, "Incorporating Attribution Importance for Improving Faithfulness Metrics", ACL 2023; '
    "at a fixed share kept"
)


@hookimpl
def attnx_metrics() -> list[Card]:
    """Soft sufficiency and comprehensiveness at a fixed share that is kept."""
    return [
        Card("soft-sufficiency", "attnx_soft_erasure.soft_sufficiency:SoftSufficiency",
             options="attnx_soft_erasure.options:SoftErasureOptions", citation=ZHAO),
        Card("soft-comprehensiveness", "attnx_soft_erasure.soft_comprehensiveness:SoftComprehensiveness",
             options="attnx_soft_erasure.options:SoftErasureOptions", citation=ZHAO),
    ]  # fmt: skip
