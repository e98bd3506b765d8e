"""An option that says one thing is not said twice."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["evaluate", "--projection", "softmax", "--projection", "sparsemax"],
            "'attnx sweep' takes several, and 'attnx compare' compares runs",
        ),
        (
            ["evaluate", "--seeds=0", "--seeds", "1"],
            "2 times and means one thing: give it once",
        ),
        (["data", "export", "sdc-text", "--split", "dev", "--split", "test"], "--split is given 2 times"),
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
