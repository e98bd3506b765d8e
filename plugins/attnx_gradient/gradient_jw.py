from .gradient import Gradient
from .options import GradientOptions


class GradientJw(Gradient):
    """Gradient as in Jain and Wallace: |gradient·embedding| with attention held fixed.

    The score of unit i is |∂p_ŷ/∂X_i · X_i| / Σ_k |∂p_ŷ/∂X_k · X_k|; the same as
    `gradient:reduce=dot-embedding-abs,attention=fixed`. Its τ with attention can differ in sign from the
    τ of the default `gradient`.
    """

    needs = ("gradient", "reattend")

    def __init__(self) -> None:
        super().__init__(GradientOptions(reduce="dot-embedding-abs", attention="fixed"))
