import numpy as np

from attnx.plugin import Finding, Lab, Study, UsageError


class UniformAttention(Study):
    """How much accuracy is lost when the model is trained with uniform attention.

    If nothing is lost, the task does not need attention, and the weights can hardly explain the model.
    The gap of an example is 1 if only the model with trained attention is right, −1 if only the other one
    is. Trains one more model per seed.
    """

    needs = ("projection",)

    def __call__(self, lab: Lab) -> list[Finding]:
        uniform = lab.variant(projection="uniform")
        if lab.setting.projection == uniform.projection:
            raise UsageError(
                "The model of this study already has uniform attention: choose another --projection."
            )
        correct = [lab.outputs(lab.model(seed)).correct.numpy() for seed in lab.seeds]
        without = [lab.outputs(lab.model(seed, uniform)).correct.numpy() for seed in lab.seeds]
        a, u = np.stack(correct), np.stack(without)  # [S, N]
        return [
            Finding("trained attention", "accuracy", "up", a, bounds=(0, 1)),
            Finding("uniform attention", "accuracy", "up", u, bounds=(0, 1)),
            Finding("gap", "accuracy", "none", a - u, bounds=(-1, 1)),
        ]
