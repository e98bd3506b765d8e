"""Accurate models that point at the wrong segment, and the focus that would have been right.

Over ten seeds each error mode ends with nearly perfect accuracy and a focus (FT) far below it. The
same model with the task's own perfect focus shows that both could have been had.
"""

import attnx

print(f"{'task':<18} {'focus':<8} {'accuracy':>8} {'seeds ≥ 0.97':>13} {'FT':>7}   95 % interval")
for mode in (1, 2, 3):
    for focus in ("learned", "oracle"):
        options = "" if focus == "learned" else ":focus=oracle"
        report = attnx.evaluate(
            f"sdc-error-mode-{mode}", f"fcam{options}", metrics=["focus"], seeds=range(10)
        )
        accuracies = [quality.accuracy for quality in report.quality]
        ft = report.select("ft")
        print(
            f"sdc-error-mode-{mode:<2} {focus:<8} {sum(accuracies) / 10:>8.3f} "
            f"{sum(a >= 0.97 for a in accuracies):>10}/10 {ft.mean:>8.3f}   {ft.interval}"
        )
