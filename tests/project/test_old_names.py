"""Names of version 0.1 work for one more version, with a warning that has the new name."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import attnx
import attnx.testing
from attnx.host.cards import CAPABILITIES
from attnx.host.catalog import Catalog

# All public names of version 0.1: `attnx` and `attnx.testing`.
OLD = """
    evaluate study experiment sweep reproduce wrap check Checked load compare audit fetch_dataset Report
    AuditReport Comparison StudyReport SweepReport Reproduction RunSpec Training AttentionProjection
    DeletingModel Drawing ImportanceMethod InfluencingModel LayeredModel Metric Model SplitMetric Task Study
    Lab Setting Chosen Finding Outputs Card Options hookimpl Axis Batch Conclusion Corpus Evidence Example
    Importance Kept Layers Measure Passes TaskData Trace WithCurve Randomness Source read_lines read_text
    read_json_lines parse_object did_you_mean at_once passes_at_once similar_lengths equal_lengths
    class_output ranked shares put_together Scorer make_scorer attention_without mean_embedding
    logits_of_kept average_ranks pearson weighted_tau column_blocks js_divergence total_variation
    rationale_mass deception_penalty AttnxError CheckFailed DataError MachineError PluginError UsageError
""".split()
OLD_TESTING = "LAWS Law LawResult ToyModel check check_component check_named pretend_device results toy_data"
CASES = [("attnx", name) for name in OLD] + [("attnx.testing", name) for name in OLD_TESTING.split()]


@pytest.mark.parametrize(("module", "name"), CASES)
def test_every_public_name_of_the_previous_version_still_works(module: str, name: str) -> None:
    package: Any = import_module(module)
    if name in package.__all__:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert getattr(package, name) is not None
        return
    with pytest.warns(
        DeprecationWarning, match=rf"{module}\.{name} is now attnx\..* until version 0\.3"
    ) as seen:
        value = getattr(package, name)
    assert seen[0].filename == __file__  # it names the line of the plugin
    place = package._RENAMED[name]
    if not place.works_as:
        home, _, new = place.now.rpartition(".")
        assert value is getattr(import_module(home), new)
        assert new in import_module(home).__all__


def test_no_name_is_both_old_and_new() -> None:
    assert not set(attnx._RENAMED) & set(attnx.__all__)
    assert not set(attnx.testing._RENAMED) & set(attnx.testing.__all__)


def test_the_old_checks_of_the_testing_module_give_laws() -> None:
    from attnx.testing import check_component, check_named, results
    from attnx.testing.toy import ToySoftmax

    catalog = Catalog.installed()
    softmax = catalog.find("projection", "softmax")
    by_component, by_name = list(check_component(catalog, softmax)), list(check_named(catalog, "softmax"))
    assert by_component == by_name
    assert {law.law for law in results("projection", ToySoftmax(), "it")} < {law.law for law in by_name}


OLD_PLUGIN = {
    "cards": """
        import attnx
        from attnx import Card, hookimpl

        @hookimpl
        def attnx_models():
            options = "elder_plugin.options:MeanOptions"
            return [attnx.Card("elder-mean", "elder_plugin.model:ElderMean", options=options)]

        @hookimpl
        def attnx_metrics():
            return [Card("elder-top", "elder_plugin.metric:ElderTop")]
    """,
    "options": """
        from attnx import Options

        class MeanOptions(Options):
            size: int = 4
    """,
    "metric": """
        from attnx import Evidence, Measure, Metric

        class ElderTop(Metric):
            "The largest score."

            family = "shape"
            measures = (Measure("top", "none", (0, 1)),)

            def __call__(self, evidence: Evidence):
                return evidence.explanation.values.abs().amax(1)
    """,
    "model": """
        import torch
        from attnx import Batch, Model, Trace, at_once
        from torch import nn

        class ElderMean(nn.Module, Model):
            "A mean of word vectors with attention."

            needs = ("words",)
            provides = (*Model.provides, "deletion", "linear-decoder")

            def __init__(self, data, projection, options):
                super().__init__()
                self.projection = projection
                words = sorted({word for example in data.train for word in example.units})
                self.ids = {word: number for number, word in enumerate(words, 2)}
                self.vectors = nn.Embedding(len(words) + 2, options.size)
                self.scorer = nn.Linear(options.size, 1)
                self.head = nn.Linear(options.size, len(data.label_names))

            @classmethod
            def build(cls, data, projection, options):
                return cls(data, projection, options)

            def encode(self, examples):
                lengths = torch.tensor([len(example.units) for example in examples])
                inputs = torch.zeros(len(examples), int(lengths.max()), dtype=torch.long)
                for row, example in enumerate(examples):
                    for column, word in enumerate(example.units):
                        inputs[row, column] = self.ids.get(word, 1)
                columns = torch.arange(inputs.shape[1]).expand_as(inputs)
                mask = columns < lengths[:, None]
                index = columns.masked_fill(~mask, -1)
                return Batch.collate(examples, inputs=inputs, mask=mask, unit_index=index, lengths=lengths)

            def embed(self, batch):
                return self.vectors(batch.inputs)

            def run(self, batch, embeddings, *, attention=None):
                scores, own, logits = self.decode(batch, embeddings)
                if attention is not None:
                    own, logits = attention, self.classify(embeddings, attention)
                return Trace(batch, embeddings, embeddings, scores, own, logits)

            def decode(self, batch, hidden):
                scores = self.scorer(hidden).squeeze(-1)
                attention = self.projection(scores, batch.mask)
                return scores, attention, self.classify(hidden, attention)

            def reattend(self, trace, attention):
                return self.classify(trace.hidden, attention)

            def classify(self, hidden, attention):
                return self.head(torch.einsum("b...l,blh->b...h", attention, hidden))

            def attention_parameters(self):
                return self.scorer.parameters()
    """,
}


def test_a_plugin_of_the_previous_version_is_listed_checked_and_evaluated(
    cli: Any, install: Any, tmp_path: Path
) -> None:
    parts = {name: dedent(text) for name, text in OLD_PLUGIN.items()}
    install("elder", parts.pop("cards"), **parts)
    code, listed, problems = cli("list", "models")
    assert (code, problems) == (0, "")
    assert "elder-mean" in listed
    code, shown, _ = cli("info", "elder-mean")
    assert code == 0
    # Read from the source, through the old name of its base class.
    assert CAPABILITIES["reattend"] in " ".join(shown.split())
    code, checked, problems = cli("check", "elder")
    assert code == 0, checked + problems
    code, printed, problems = cli(
        "evaluate", "--task", "sdc-text:train=60,dev=30,test=40", "--model", "elder-mean:size=3",
        "--metric", "elder-top", "--train", "epochs=1", "--out", str(tmp_path / "runs"),
    )  # fmt: skip
    assert code == 0, problems
    assert "elder-top" in printed
