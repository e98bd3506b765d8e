"""Threads that share the processor's cores with other programs."""

import os


def wait_briefly() -> None:
    """Let torch's threads sleep after waiting for each other for some microseconds, if it is not loaded yet.

    On Linux they would keep their cores busy for milliseconds while the thread that they wait for has no
    core: with two other programs on two cores, a run took fifteen times as long as alone.
    """
    if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
        os.environ["GOMP_SPINCOUNT"] = "3000"  # fewer would slow a run that has the cores for itself
