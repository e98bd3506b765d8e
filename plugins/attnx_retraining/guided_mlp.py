import numpy as np

from attnx.plugin import Choice, Finding, Lab, Model, Study

from .adversary import unfrozen
from .guided import Guided
from .options import GuidedMlpOptions

VOCABULARY = ("min_count", "max_words", "boundaries")  # options that decide how words are numbered


class GuidedMlp(Study):
    """Accuracy of a model that reads each unit separately, with the attention of another model.

    If attention helps a model without context, it points to units (words, image patches, ...) that matter
    by themselves. The guides are: equal weights, the attention of the trained model, that of its unfrozen
    adversary (as in `adversarial-model`), and the attention that the guided model learns itself. Trains
    up to four models per seed.
    """

    needs = ("reattend", "projection")

    def __init__(self, options: GuidedMlpOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        mlp = self._guided(lab)
        own = lab.variant(model=mlp, projection=lab.setting.projection.label)
        uniform = lab.variant(model=mlp, projection="uniform")
        theirs = lab.within("adversarial-model")

        def guided(guide: Model, seed: int, name: str) -> Model:
            model = Guided(lab.untrained(seed, own), guide, lab.data)
            return lab.train(model, seed, f"guided by {name}", setting=own, depends_on=(guide,))

        models: dict[str, list[Model]] = {
            "the model itself": [lab.model(seed) for seed in lab.seeds],
            "guide: uniform": [lab.model(seed, uniform) for seed in lab.seeds],
        }
        trained = list(zip(models["the model itself"], lab.seeds, strict=True))
        models["guide: trained"] = [guided(model, seed, "trained") for model, seed in trained]
        models["guide: adversarial"] = [
            guided(unfrozen(theirs, model, seed, self.options, self.options.divergence), seed, "adversary")
            for model, seed in trained
        ]
        models["guide: own"] = [lab.model(seed, own) for seed in lab.seeds]
        correct = {
            name: np.stack([lab.outputs(model).correct.numpy() for model in found])  # [S, N]
            for name, found in models.items()
        }
        return [Finding(name, "accuracy", "up", values, bounds=(0, 1)) for name, values in correct.items()]

    def _guided(self, lab: Lab) -> Choice:
        """Return the guided model with the vocabulary options of the study's model."""
        asked = Choice.parse(self.options.model)
        open_options = lab.options_of(asked.name) - asked.options.keys()
        shared = {
            key: value
            for key, value in lab.setting.model.options.items()
            if key in VOCABULARY and key in open_options and value is not None
        }
        return Choice(name=asked.name, options={**asked.options, **shared})
