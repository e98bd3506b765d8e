"""The tests on every version of Python that is supported: `pipx run nox`, or `nox -s tests-3.12`."""

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False  # `nox --error-on-missing-interpreters` for a release


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The quick tests, with the pins of constraints.txt. Arguments go to pytest."""
    session.install("--constraint", "constraints.txt", "--editable", ".[dev]")
    session.run("pytest", "-n", "2", "-m", "not slow", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Style, import contracts and types."""
    session.install("--constraint", "constraints.txt", "--editable", ".[dev]")
    for command in (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("lint-imports",),
        ("mypy",),
        ("mypy", "--config-file", "tests/mypy.ini"),
    ):
        session.run(*command)


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """The site, strictly."""
    session.install("--constraint", "constraints.txt", "--editable", ".[docs]")
    session.run("mkdocs", "build", "--quiet", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
