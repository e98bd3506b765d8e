from .gradient import Gradient
from .options import GradientOptions


class GradientJw(Gradient):
    """Gradient as Jain and Wallace take it: |gradient·embedding| with attention held fixed.

    g(x_i) = |∂p_ŷ/∂X_i · X_i| / Σ_k |∂p_ŷ/∂X_k · X_k|: `gradient:reduce=dot-embedding-abs,attention=fixed`
    by name. The default `gradient` can have another sign of τ with attention.
    """

    needs = ("gradient", "reattend")

    def __init__(self) -> None:
        super().__init__(GradientOptions(reduce="dot-embedding-abs", attention="fixed"))
