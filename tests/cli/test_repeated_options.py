"""An option that says one thing is not said twice."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["evaluate", "--projection", "softmax", "--projection", "sparsemax"],
            "--projection was given twice but takes one value. Use 'attnx sweep' for several values.",
        ),
        (
            ["evaluate", "--seeds=0", "--seeds", "1"],
            "--seeds was given twice but takes one value. Give it once.",
        ),
        (
            ["data", "export", "sdc-text", "--split", "dev", "--split", "test"],
            "--split was given twice but takes one value",
        ),
    ],
)
def test_a_single_option_given_twice_is_refused_in_words(cli, arguments, said):
    code, out, err = cli(*arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert said in err


def test_options_that_may_be_repeated_are_not_refused(cli):
    code, _, err = cli("evaluate", "--metric", "nnz", "--metric", "entropy", "--task", "no-such-task")
    assert code == 2
    assert "no-such-task" in err
