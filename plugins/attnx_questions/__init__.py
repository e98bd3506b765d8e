"""Questions about short stories: the bAbI tasks, and generated stories with known supporting sentences."""

from attnx.plugin import Card, hookimpl

WESTON = 'Weston et al., "Towards AI-Complete Question Answering: A Set of Prerequisite Toy Tasks", ICLR 2016'


def _task(name: str, target: str, options: str, citation: str = "") -> Card:
    return Card(
        name,
        f"attnx_questions.{target}",
        options=f"attnx_questions.options:{options}",
        recommends=("bilstm-add",),
        citation=citation,
    )


@hookimpl
def attnx_tasks() -> list[Card]:
    """Stories with a question as the query."""
    return [
        _task("babi-1", "babi:BabiOne", "BabiOptions", WESTON),
        _task("babi-2", "babi:BabiTwo", "BabiOptions", WESTON),
        _task("babi-3", "babi:BabiThree", "BabiOptions", WESTON),
        _task("babi-generated", "generated:GeneratedStories", "GeneratedOptions"),
    ]
