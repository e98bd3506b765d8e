import numpy as np

from attnx.plugin import Source, Task, TaskData

from .mosaics import make_mosaics, point_bases
from .options import DigitsOptions


class Digits(Task):
    """Mosaics of handwritten digits; the one digit of a foreground class decides the label.

    A mosaic has nine segments by default (its units); exactly one is foreground and decides the label,
    and it is the rationale. The digits are the 1 797 images of 8 x 8 pixels that scikit-learn includes,
    so no files are needed. Train, dev and test mosaics use different images.
    """

    provides = ("features", "rationale", "backgrounds")

    def __init__(self, options: DigitsOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        import sklearn
        from sklearn.datasets import load_digits

        images, digits = load_digits(return_X_y=True)
        chosen = sorted({int(digit) for digit in self.options.foreground})
        classes = np.zeros(len(digits), dtype=int)
        for y, digit in enumerate(chosen, start=1):
            classes[digits == digit] = y
        names = ["background", *(f"digit {digit}" for digit in chosen)]
        bases = point_bases(images.reshape(-1, 1, 8, 8) / 16, classes, names, self.options.seed)
        return make_mosaics(bases, self.options, {"source": f"digits of scikit-learn {sklearn.__version__}"})

    def sample(self) -> TaskData:
        return Digits(DigitsOptions(train=24, dev=12, test=12)).load(Source())
