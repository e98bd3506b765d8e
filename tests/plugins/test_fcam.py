"""The focus-classify model: its formula, its averaging layers, its kinds of network."""

import dataclasses

import pytest
import torch

import attnx
from attnx.plugin import Source, UsageError
from attnx.testing import assert_conforms
from attnx.testing.toy import ToySoftmax
from attnx_sdc.digits import Digits
from attnx_sdc.error_modes import ErrorMode1
from attnx_sdc.fcam import Fcam
from attnx_sdc.networks import make_network
from attnx_sdc.options import DigitsOptions, FcamOptions, SdcTextOptions, Sizes
from attnx_sdc.text import SdcText

DATA = {
    "plane": ErrorMode1(Sizes(train=12, dev=6, test=6)).load(Source()),
    "digits": Digits(DigitsOptions(train=12, dev=6, test=6)).load(Source()),
    "words": SdcText(SdcTextOptions(train=12, dev=6, test=6)).load(Source()),
}
BUILDS = [
    ("plane", {"focus": "linear", "classifier": "linear"}),
    ("plane", {"focus": "linear", "classifier": "relu"}),
    ("plane", {"focus": "mlp", "classifier": "mlp", "layer": 1}),
    ("plane", {"focus": "mlp", "classifier": "mlp", "layer": -1}),
    ("plane", {"focus": "oracle", "classifier": "linear"}),
    ("digits", {"focus": "cnn", "classifier": "cnn"}),
    ("digits", {"focus": "cnn", "classifier": "cnn", "layer": 6}),
    ("digits", {"focus": "mlp", "classifier": "linear", "layer": 2}),
    ("words", {"focus": "mlp", "classifier": "mlp"}),
]


def build(task, **options):
    torch.manual_seed(0)
    return Fcam.build(DATA[task], ToySoftmax(), FcamOptions(**options)).eval()


@pytest.mark.parametrize(("task", "options"), BUILDS, ids=str)
def test_every_build_passes_the_conformance_tests(task, options):
    assert_conforms("model", build(task, **options), DATA[task])


def test_linear_model_is_its_formula():
    model = build("plane", focus="linear", classifier="linear")
    data = DATA["plane"]
    trace = model.run(batch := model.encode(data.test), model.embed(batch))
    w, b = model.focus.head.weight[0], model.focus.head.bias
    v, c = model.classifier.head.weight, model.classifier.head.bias
    for row, example in enumerate(data.test):
        x = torch.from_numpy(data.features[list(example.rows)])  # [9, 2]
        a = torch.softmax(x @ w + b, 0)
        assert torch.allclose(trace.attention[row], a, atol=1e-6)
        assert torch.allclose(trace.logits[row], v @ (a @ x) + c, atol=1e-6)


def test_averaging_layer_is_what_is_averaged():
    model = build("plane", focus="mlp", classifier="linear", layer=2)
    batch = model.encode(DATA["plane"].test)
    trace = model.run(batch, model.embed(batch))
    hidden = model.focus.layers[1](model.focus.layers[0](trace.embeddings))
    assert torch.allclose(trace.hidden, hidden)
    average = (trace.attention[..., None] * hidden).sum(1)
    assert torch.allclose(trace.logits, model.classifier(average), atol=1e-5)
    assert torch.allclose(trace.scores, model.focus.head(hidden).squeeze(-1))


def test_cnn_has_six_convolutions_and_sees_one_segment_at_a_time():
    model = build("digits", focus="cnn", classifier="cnn")
    convolutions = [module for module in model.focus.modules() if isinstance(module, torch.nn.Conv2d)]
    assert len(convolutions) == 6
    batch = model.encode(DATA["digits"].test)
    embeddings = model.embed(batch)
    changed = embeddings.clone()
    changed[:, 3] = 0
    before, after = model.run(batch, embeddings).scores, model.run(batch, changed).scores
    others = [unit for unit in range(9) if unit != 3]
    assert torch.allclose(before[:, others], after[:, others], atol=1e-6)
    assert not torch.allclose(before[:, 3], after[:, 3])


def test_features_are_data_and_not_weights():
    assert not any("table" in name for name in build("plane").state_dict())


def test_unknown_words_share_a_vector():
    model = build("words")
    example = DATA["words"].test[0]
    strange = dataclasses.replace(example, units=("zzz", "yyy", *example.units[2:]))
    vectors = model.embed(model.encode([strange]))[0]
    assert torch.equal(vectors[0], vectors[1])


@pytest.mark.parametrize(
    ("task", "options", "reason"),
    [
        ("plane", {"focus": "cnn"}, "images"),
        ("plane", {"focus": "mlp", "layer": 3}, "2 hidden layers"),
        ("digits", {"focus": "oracle"}, "perfect focus"),
    ],
)
def test_impossible_networks_are_refused(task, options, reason):
    with pytest.raises(UsageError, match=reason):
        build(task, **options)


def test_sparsemax_focus_is_sparser_than_softmax():
    reports = [
        attnx.evaluate(
            "sdc-2d:train=500,dev=100,test=150",
            projection=projection,
            metrics=["nnz"],
            training={"epochs": 30},
            progress=False,
        )
        for projection in ("softmax", "sparsemax")
    ]
    assert reports[1].select("nnz").high < reports[0].select("nnz").low


def test_hard_attention_trains_and_predicts_from_one_segment():
    report = attnx.evaluate(
        "sdc-2d:train=500,test=300",
        projection="hard",
        metrics=["nnz"],
        training={"epochs": 30},
        progress=False,
    )
    assert report.select("nnz").mean == 1.0
    assert report.quality[0].accuracy > report.quality[0].majority + 0.15


def test_queries_are_refused_and_rare_words_are_unknown():
    words = DATA["words"]
    asked = dataclasses.replace(words.train[0], query=("who",))
    with pytest.raises(UsageError, match="fcam cannot read queries"):
        Fcam.build(dataclasses.replace(words, train=(asked, *words.train)), ToySoftmax(), FcamOptions())
    once = dataclasses.replace(words.train[0], id="once", units=("hapax", *words.train[0].units[1:]))
    data = dataclasses.replace(words, train=(once, *words.train), min_count=2)
    model = Fcam.build(data, ToySoftmax(), FcamOptions())
    assert model.row_of_word.get("hapax") is None
    assert model.row_of_word


def test_what_is_computed_in_parts_is_the_same(monkeypatch):
    network = make_network("cnn", (3, 8, 8), 2, 5, 4)
    x = torch.randn(4, 9, 3 * 8 * 8, generator=torch.Generator().manual_seed(0))
    whole, hidden = network(x), network.up_to(x, 6)
    network.at_once = 5
    with torch.no_grad():
        assert torch.allclose(network(x), whole, atol=1e-6)
        assert torch.allclose(network.up_to(x, 6), hidden, atol=1e-6)
        assert network.up_to(x, 0) is x
    network, points = make_network("mlp", (3,), 2, 5, 4), x[..., :3]
    whole = network(points)
    monkeypatch.setattr("attnx_sdc.networks.AT_ONCE", 5)
    with torch.no_grad():
        assert torch.allclose(network(points), whole, atol=1e-6)


@pytest.mark.parametrize("at_once", [1000, 7])
def test_a_cnn_and_its_gradients_are_those_of_plain_layers(at_once):
    torch.manual_seed(0)
    network = make_network("cnn", (3, 8, 8), 2, 5, 4)
    network.at_once = at_once
    x = torch.randn(4, 9, 3 * 8 * 8)
    found = network.from_layer(network.up_to(x, 3), 3)
    y = x.reshape(36, 3, 8, 8)
    for number, layer in enumerate(network.layers):
        y = torch.relu(layer.convolution(y))
        y = torch.nn.functional.max_pool2d(y, 2) if number % 2 else y
    expected = network.head(y.reshape(36, -1)).reshape(4, 9, 2)
    assert torch.allclose(found, expected, atol=1e-5)
    parameters = list(network.parameters())
    ours, plain = (torch.autograd.grad(out.square().sum(), parameters) for out in (found, expected))
    for a, b in zip(ours, plain, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4 * float(b.abs().max()))
