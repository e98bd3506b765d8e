import numpy as np

from attnx.plugin import Finding, Lab, Study, UsageError


class UniformAttention(Study):
    """What accuracy is lost when the model is trained with equal attention to every unit.

    Where nothing is lost, the task does not need attention, and the weights can hardly explain the
    model. The gap is that of every example: 1 where only the model with attention is right.
    """

    needs = ("projection",)

    def __call__(self, lab: Lab) -> list[Finding]:
        uniform = lab.variant(projection="uniform")
        if lab.setting.projection == uniform.projection:
            raise UsageError(
                "The model of this study has uniform attention already: give another --projection."
            )
        correct = [lab.outputs(lab.model(seed)).correct.numpy() for seed in lab.seeds]
        without = [lab.outputs(lab.model(seed, uniform)).correct.numpy() for seed in lab.seeds]
        a, u = np.stack(correct), np.stack(without)  # [S, N]
        return [
            Finding("trained attention", "accuracy", "up", a),
            Finding("uniform attention", "accuracy", "up", u),
            Finding("gap", "accuracy", "none", a - u),
        ]
