"""How the command line behaves among other programs and for somebody who types something wrong."""

import subprocess
import sys

import pytest

ATTNX = [sys.executable, "-c", "from attnx.cli.app import main; main()"]


def test_the_bare_program_shows_its_help(cli):
    code, out, err = cli()
    assert (code, err) == (0, "")
    assert out.startswith("Usage: attnx [OPTIONS] COMMAND")
    assert "evaluate" in out
    code, out, err = cli("data")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: attnx data")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info"], "error: attnx info: Missing argument 'NAME'. Try 'attnx info --help'."),
        (["data", "nothing"], "error: attnx data: No such command 'nothing'. Try 'attnx data --help'."),
        (["evaluate", "--tsk", "imdb"], "error: attnx evaluate: No such option: --tsk"),
    ],
)
def test_a_mistake_names_the_command_it_was_made_in(cli, arguments, said):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(said)


def test_a_reader_that_has_seen_enough_is_no_failure():
    for lines in (1, 30):
        with subprocess.Popen([*ATTNX, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            for _ in range(lines):
                program.stdout.readline()
            program.stdout.close()
            assert program.stderr.read() == b""
            assert program.wait() == 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("attnx evaluate --task rotten", "rotten-tomatoes"),
        ("attnx evaluate --model bilstm-add-me", "bilstm-add-meister"),
        ("attnx evaluate --metric kendall-", "kendall-topk"),
        ("attnx info sparseg", "sparsegen"),
        ("attnx study uniform", "uniform-attention"),
        ("attnx list proj", "projections"),
        ("attnx data where rotten", "rotten-tomatoes"),
    ],
)
def test_the_shell_completes_names_of_components(words, found, monkeypatch, cli):
    monkeypatch.setenv("_ATTNX_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    code, out, _ = cli()
    assert (code, out.split()) == (0, [found])


def test_lists_fit_a_narrow_terminal(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = cli("list")
    assert max(map(len, out.splitlines())) <= 60
