"""Grids: the product of their axes, without what makes no sense."""

import pytest

from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.request.grid import plan_sweep, read_grid


@pytest.fixture(scope="module")
def catalog():
    return Catalog.installed()


def titles(grid, catalog):
    return [cell.title for cell in plan_sweep(grid, catalog).cells]


def test_cells_are_the_product_of_the_axes(catalog):
    grid = read_grid(
        {
            "task": ["sdc-2d", "sdc-error-mode-1"],
            "projection": ["softmax", "sparsegen:lam=0.5"],
            "seeds": "0-2",
        },
        None,
    )
    assert titles(grid, catalog) == [
        "sdc-2d · softmax",
        "sdc-2d · sparsegen:lam=0.5",
        "sdc-error-mode-1 · softmax",
        "sdc-error-mode-1 · sparsegen:lam=0.5",
    ]
    assert all(spec.seeds == (0, 1, 2) for spec in grid.specs())


def test_a_file_gives_the_grid_and_the_command_line_overrides_it(tmp_path, catalog):
    file = tmp_path / "grid.yaml"
    file.write_text("task: [sdc-2d]\ntraining: [{epochs: 2}, {epochs: 3}]\nseeds: 0-1\nlimit: 50\n")
    grid = read_grid({"task": "sdc-error-mode-1"}, file)
    assert titles(grid, catalog) == ["sdc-error-mode-1 · epochs=2", "sdc-error-mode-1 · epochs=3"]
    assert next(grid.specs()).limit.train == 50


def test_training_settings_are_read_as_a_person_types_them():
    grid = read_grid({"task": "sdc-2d", "training": ["epochs=2,entropy=0.1", "epochs=3"]}, None)
    assert grid.training == ({"epochs": "2", "entropy": "0.1"}, {"epochs": "3"})


def test_pairings_that_make_no_sense_are_left_out_with_the_reason(catalog):
    grid = read_grid({"task": ["sdc-2d", "sdc-text"], "model": "bilstm-add", "metrics": "focus"}, None)
    plan = plan_sweep(grid, catalog)
    assert [cell.title for cell in plan.cells] == ["sdc-text · bilstm-add"]
    assert [(one.title, "words" in one.reason) for one in plan.refused] == [("sdc-2d · bilstm-add", True)]


def test_the_same_cell_twice_is_one_cell(catalog):
    grid = read_grid({"task": "sdc-2d", "model": ["fcam-mlp"], "projection": ["softmax", "softmax"]}, None)
    assert len(plan_sweep(grid, catalog).cells) == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"task": ["sdc-2d", "sdc-2e"]}, "Unknown task 'sdc-2e'. Did you mean 'sdc-2d'"),
        ({"task": "sdc-2d", "model": ["bilstm-ad"]}, "Did you mean 'bilstm-add'"),
        ({"task": "sdc-2d", "model": "bilstm-add"}, "No cell of the grid can be run"),
        ({}, "task"),
        ({"task": ["sdc-2d"] * 101, "projection": ["softmax"] * 101}, "10201 cells"),
    ],
)
def test_bad_grids_are_refused_in_words(asked, said, catalog):
    with pytest.raises(UsageError, match=said):
        plan_sweep(read_grid(asked, None), catalog)


def test_an_unknown_key_of_a_file_is_named(tmp_path):
    file = tmp_path / "grid.yaml"
    file.write_text("tasks: [sdc-2d]\n")
    with pytest.raises(UsageError, match=r"unknown key 'tasks'\. Did you mean 'task'"):
        read_grid({}, file)
