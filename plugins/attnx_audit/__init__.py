"""Known ground truth: planted tasks, explanations that are right or wrong on purpose, deceptive attention."""

from attnx.plugin import Card, hookimpl

PRUTHI = (
    "Pruthi, Gupta, Dhingra, Neubig and Lipton, "
    '"Learning to Deceive with Attention-Based Explanations", ACL 2020'
)
BASTINGS = (
    'Bastings, Ebert, Zablotskaia, Sandholm and Filippova, "Will You Find These Shortcuts?", EMNLP 2022'
)


@hookimpl
def attnx_tasks() -> list[Card]:
    """Texts in which it is known which words decide the label: generated, or with a planted shortcut."""
    return [
        Card("planted-pronouns", "attnx_audit.pronouns:PlantedPronouns",
             options="attnx_audit.options:PronounsOptions", recommends=("bilstm-add",), citation=PRUTHI),
        Card("planted-distractors", "attnx_audit.distractors:PlantedDistractors",
             options="attnx_audit.options:DistractorsOptions", recommends=("bilstm-add",)),
        Card("planted-rules", "attnx_audit.rule_texts:PlantedRules",
             options="attnx_audit.options:RulesOptions", recommends=("bilstm-add",)),
        Card("planted", "attnx_audit.shortcut:PlantedShortcut",
             options="attnx_audit.options:ShortcutOptions", recommends=("bilstm-add",), citation=BASTINGS),
    ]  # fmt: skip


@hookimpl
def attnx_models() -> list[Card]:
    """A model whose rule is known exactly."""
    return [
        Card("rule-reader", "attnx_audit.rule_reader:RuleReader",
             options="attnx_audit.options:RuleReaderOptions"),
    ]  # fmt: skip


@hookimpl
def attnx_importances() -> list[Card]:
    """Explanations that are right, partly right, uninformative or wrong, independent of the model."""
    return [
        Card("oracle", "attnx_audit.oracle:Oracle"),
        Card("anti-oracle", "attnx_audit.oracle:AntiOracle"),
        Card("negated-oracle", "attnx_audit.oracle:NegatedOracle"),
        Card("partly-oracle", "attnx_audit.partly_oracle:PartlyOracle",
             options="attnx_audit.options:PartlyOracleOptions"),
        Card("first", "attnx_audit.position:First"),
        Card("last", "attnx_audit.position:Last"),
    ]  # fmt: skip


@hookimpl
def attnx_studies() -> list[Card]:
    """Attention trained to hide what the model uses."""
    return [
        Card("deceptive-attention", "attnx_audit.deceptive_attention:DeceptiveAttention",
             options="attnx_audit.options:DeceptiveAttentionOptions", citation=PRUTHI),
    ]  # fmt: skip
