from .loo import LeaveOneOut
from .options import LeaveOneOutOptions


class LeaveOneOutJw(LeaveOneOut):
    """Leave-one-out as in Jain and Wallace: the change averaged over all classes.

    D(x_i) = Σ_c |p_c − p_c,−i| / Σ_k Σ_c |p_c − p_c,−k| for unit i; the same as `loo:of=average`.
    """

    needs = ("deletion",)

    def __init__(self) -> None:
        super().__init__(LeaveOneOutOptions(of="average"))
