"""Objects and classes in place of names."""

from typing import Any

import pytest
import torch
from torch import nn

import attnx
from attnx import UsageError, protocols
from attnx.plugin import Measure
from attnx.request.objects import DEFAULTS, PROTOCOLS
from attnx.testing import ToyModel, toy_data
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.options import BiLstmOptions
from attnx_shape.nnz import Nnz
from attnx_shape.options import NnzOptions

WORDS = "sdc-text:train=24,dev=12,test=12"


class Plain:
    """A task that declares nothing."""

    def load(self, source: Any) -> attnx.plugin.TaskData:
        return toy_data()


def run(task: Any, model: Any, **asked: Any) -> attnx.Report:
    return attnx.evaluate(task, model, progress=False, **{"metrics": ["nnz"], **asked})


def test_defaults_are_those_of_the_protocols() -> None:
    for kind, defaults in DEFAULTS.items():
        protocol = getattr(protocols, PROTOCOLS[kind])
        for name, default in defaults.items():
            said = getattr(protocol, name)
            assert callable(said) if callable(default) else said == default, (kind, name)


def test_objects_that_declare_nothing_have_the_defaults(tmp_path: Any) -> None:
    class Largest:
        family = "shape"
        measures = (Measure("largest", "none", (-1, 1)),)
        __slots__ = ()  # nothing can be put on it

        def __call__(self, evidence: attnx.plugin.Evidence) -> torch.Tensor:
            return evidence.explanation.values.amax(1)

    def halves(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return mask / mask.sum(1, keepdim=True)

    def backwards(model: Any, trace: attnx.plugin.Trace, target: Any, random: Any) -> torch.Tensor:
        return -trace.attention

    class Model(ToyModel):
        pass

    report = run(
        Plain(), Model, projection=halves, metrics=[Largest()], explanations=[backwards, "attention"],
        training={"epochs": 1},
    )  # fmt: skip
    assert report.labels["projection"] == "halves"
    assert report.select("largest", explanation="backwards").mean < 0


def test_classes_of_plugins_are_their_components() -> None:
    small = (BiLstm, {"hidden": 4, "embedding": 4})
    report = run(WORDS, small, metrics=[(Nnz, {"fraction": True}), Nnz], training={"epochs": 1})
    assert report.labels["model"] == "bilstm:hidden=4,embedding=4"
    assert {s.metric for s in report.summaries} == {"nnz:fraction=True", "nnz"}
    assert report.fingerprint  # as any run of names
    same = run(WORDS, (BiLstm, BiLstmOptions(hidden=4, embedding=4)), metrics=[(Nnz, NnzOptions())],
               training={"epochs": 1})  # fmt: skip
    assert same.quality == report.quality


def test_dictionaries_are_only_for_options_that_are_known() -> None:
    class Mine(ToyModel):
        pass

    with pytest.raises(
        UsageError, match=r"'Mine' belongs to no plugin.*pass an attnx\.plugin\.Options object"
    ):
        run(Plain(), (Mine, {"hidden": 4}))
    with pytest.raises(UsageError, match="Unknown option 'hiden' of model 'bilstm'. Did you mean 'hidden'"):  # noqa: RUF043
        run(WORDS, (BiLstm, {"hiden": 4}))


def test_an_own_class_is_built_with_its_options_object() -> None:
    class Wide(attnx.plugin.Options):
        width: int = 1

    class Mine(ToyModel):
        built: Any = None

        @classmethod
        def build(cls, data: Any, projection: Any, options: Any) -> Any:
            Mine.built = options
            return super().build(data, projection, options)

    run(Plain(), (Mine, Wide(width=3)), training={"epochs": 1})
    assert Mine.built == Wide(width=3)


class WrongOrder(attnx.plugin.Model, nn.Module):
    """Takes everything from the protocol."""


class NoProjection(ToyModel):
    def __init__(self) -> None:
        super().__init__()
        del self.projection


class NoReattend(ToyModel):
    reattend = None  # type: ignore[assignment]


class NoModule:
    encode = embed = run = decode = reattend = build = print


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (WrongOrder, "Put nn.Module first: class WrongOrder(nn.Module, attnx.plugin.Model)"),
        (NoProjection(), "but it has no attribute 'projection'"),
        (NoReattend(), "it has no method 'reattend'. Add it, or declare provides = (...) without 'reattend'"),
        (NoModule, "has no 'parameters': a model must be a torch.nn.Module"),
        (
            nn.Linear(2, 2),
            "'Linear' is a torch module but not a model: it has no 'run'. Wrap it with attnx.wrap(",
        ),
    ],
)
def test_a_missing_piece_is_one_line(model: Any, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        run(Plain(), model)
    assert said in str(refused.value)


def test_several_seeds_of_one_trained_model_are_refused() -> None:
    with pytest.raises(UsageError, match="is one trained model; 3 seeds would count it 3 times"):
        run(Plain(), ToyModel(), seeds=range(3))


def test_a_study_takes_objects_too() -> None:
    class Gap(attnx.plugin.Study):
        """Accuracy of the model and of its variant."""

        needs = ("projection",)

        def __call__(self, lab: attnx.plugin.Lab) -> list[attnx.plugin.Finding]:
            other = lab.variant(projection="uniform")
            models = {"own": lab.model(0), "uniform": lab.model(0, other)}
            return [
                attnx.plugin.Finding(name, "accuracy", "up", lab.outputs(model).correct[None].numpy())
                for name, model in models.items()
            ]

    class Mine(ToyModel):
        pass

    report = attnx.study(Gap(), Plain(), Mine, training={"epochs": 1}, progress=False)
    assert [finding.setting for finding in report.findings] == ["own", "uniform"]
    with pytest.raises(UsageError, match="model 'ToyModel' is trained already: give its class"):
        attnx.study("uniform-attention", Plain(), ToyModel(), progress=False)


def test_a_study_that_fails_is_one_line_with_its_name_and_place() -> None:
    class Failing(attnx.plugin.Study):
        """Fails."""

        def __call__(self, lab: attnx.plugin.Lab) -> list[attnx.plugin.Finding]:
            raise RuntimeError("on purpose")

    class Formless(attnx.plugin.Study):
        """Gives what is no finding."""

        def __call__(self, lab: attnx.plugin.Lab) -> list[attnx.plugin.Finding]:
            return [attnx.plugin.Finding("own", "accuracy", "up", torch.ones(3).numpy())]

    class Mine(ToyModel):
        pass

    with pytest.raises(
        attnx.PluginError, match=r"study 'Failing' failed: RuntimeError: on purpose \(.*test_objects"
    ):
        attnx.study(Failing(), Plain(), Mine, training={"epochs": 0}, progress=False)
    with pytest.raises(attnx.PluginError, match="study 'Formless' failed: IndexError"):
        attnx.study(Formless(), Plain(), Mine, training={"epochs": 0}, progress=False)
