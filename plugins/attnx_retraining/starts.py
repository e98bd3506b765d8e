"""What a retrained model starts from, and which parameters are trained."""

import torch

from attnx.plugin import Lab, Model, UsageError

ANOTHER = 2**31  # difference between the seed of a model and that of its new model
SEEDS = 2**32


def new_model(lab: Lab, seed: int) -> Model:
    """Return an untrained model with other random weights than the model of that seed started from."""
    return lab.untrained((seed + ANOTHER) % SEEDS)


def copy_of(lab: Lab, trained: Model, seed: int, *, new_attention: bool) -> Model:
    """Return a model with the weights of a trained one; its attention untrained if asked."""
    model = new_model(lab, seed)
    fresh = [parameter.detach().clone() for parameter in model.attention_parameters()]
    model.load_state_dict(trained.state_dict())
    if new_attention:
        with torch.no_grad():
            for parameter, value in zip(model.attention_parameters(), fresh, strict=True):
                parameter.copy_(value)
    return model


def free_attention_alone(lab: Lab, model: Model) -> None:
    """Freeze everything in a model except its attention parameters; reject one that has none."""
    model.requires_grad_(False)
    attention = list(model.attention_parameters())
    for parameter in attention:
        parameter.requires_grad_(True)
    batch = lab.batch(model, lab.data.train[:1])
    with torch.random.fork_rng(), torch.enable_grad():
        model.train()  # a hard projection can only be trained in this mode
        trace = model.run(batch, model.embed(batch))
        model.eval()
    what = f"Model '{lab.setting.model.label}' with projection '{lab.setting.projection.label}'"
    if not trace.attention.requires_grad:
        raise UsageError(f"{what} has no attention that could be trained: choose another of the two.")
    if trace.hidden.requires_grad:
        raise UsageError(
            f"{what} makes its hidden states with the parameters of its attention, so one cannot be "
            "trained without the other: for fcam choose layer=0."
        )
