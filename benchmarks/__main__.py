"""`make bench`: every benchmark, ours beside a peer in one process, with what both must agree on."""

import importlib
import pkgutil
import sys

import torch

import benchmarks

NOT_BENCHMARKS = {"__main__", "one_by_one", "peers", "timing"}


def main() -> None:
    """Print one line per row of work; fail when two contestants computed different things."""
    wanted = sys.argv[1:]
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    names = [name for name in names if name not in NOT_BENCHMARKS]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f"error: no benchmark '{unknown[0]}'. There are: {', '.join(names)}.")
    names = [name for name in names if not wanted or name in wanted]
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; seconds are the best of several")
    print(f"{'work':<52} {'ours':>9} {'peer':>9} {'ratio':>7} {'target':>7}  same result")
    different = False
    for name in names:
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            met = "" if row.ratio >= row.target else "  (below target)"
            same = {True: "yes", False: "NO", None: "(a limit)"}[row.equal]
            different = different or row.equal is False
            print(
                f"{row.work:<52} {row.ours:>8.4f}s {row.peer:>8.4f}s {row.ratio:>6.2f}x "
                f"{row.target:>6.1f}x  {same}{met}",
                flush=True,
            )
    sys.exit(different)


if __name__ == "__main__":
    main()
