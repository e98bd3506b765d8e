"""Known truth: planted tasks, explanations right or wrong on purpose, attention trained to deceive."""

from attnx import Card, hookimpl

PRUTHI = (
    "Pruthi, Gupta, Dhingra, Neubig and Lipton, "
    '"Learning to Deceive with Attention-Based Explanations", ACL 2020'
)


@hookimpl
def attnx_tasks() -> list[Card]:
    """Generated texts of which it is known which words decide the label."""
    return [
        Card("planted-pronouns", "attnx_audit.pronouns:PlantedPronouns",
             "Short lives in which pronouns and titles alone decide the label.",
             options="attnx_audit.options:PronounsOptions", provides=("words",),
             recommends=("bilstm-add",), citation=PRUTHI),
        Card("planted-distractors", "attnx_audit.distractors:PlantedDistractors",
             "Short reviews of several things, of which what is said of the film alone decides the label.",
             options="attnx_audit.options:DistractorsOptions", provides=("words",),
             recommends=("bilstm-add",)),
    ]  # fmt: skip


@hookimpl
def attnx_importances() -> list[Card]:
    """Explanations that are right, partly right, uninformative or wrong, whatever the model does."""
    return [
        Card("oracle", "attnx_audit.oracle:Oracle",
             "1 for the units that decide the label, 0 for the others.", needs=("rationale",)),
        Card("anti-oracle", "attnx_audit.oracle:AntiOracle",
             "1 for the units that have nothing to do with the label, 0 for those that decide it.",
             needs=("rationale",)),
        Card("partly-oracle", "attnx_audit.partly_oracle:PartlyOracle",
             "An oracle that takes a share of the deciding units for others, drawn at random.",
             options="attnx_audit.options:PartlyOracleOptions", needs=("rationale",)),
        Card("first", "attnx_audit.position:First",
             "The earlier a unit stands, the higher its score: from 1 for the first to 1/n for the last."),
        Card("last", "attnx_audit.position:Last",
             "The later a unit stands, the higher its score: from 1/n for the first to 1 for the last."),
    ]  # fmt: skip


@hookimpl
def attnx_studies() -> list[Card]:
    """Attention that hides what the model uses."""
    return [
        Card("deceptive-attention", "attnx_audit.deceptive_attention:DeceptiveAttention",
             "What metrics say of attention that was trained to avoid the units that decide.",
             options="attnx_audit.options:DeceptiveAttentionOptions",
             needs=("attention", "rationale"), citation=PRUTHI),
    ]  # fmt: skip
