"""Replacement of units by units that carry no information on the label, averaged over several draws."""

from dataclasses import replace

import torch
from torch import Tensor

from attnx.formulas import Randomness, equal_lengths
from attnx.plugin import Batch, Model, Trace


def logits_over_backgrounds(model: Model, trace: Trace, random: Randomness, draws: int) -> Tensor:
    """Return [B, L, C] log mean probabilities with the unit of each column replaced; 0 off the mask."""
    mask = trace.batch.mask
    rows, columns = mask.nonzero(as_tuple=True)  # [R], [R]
    replaced = columns[:, None] == torch.arange(mask.shape[1], device=mask.device)  # [R, L]
    found = torch.zeros(*mask.shape, trace.logits.shape[-1], dtype=torch.float64, device=mask.device)
    found[mask] = probabilities_over_backgrounds(model, trace.batch, rows, replaced, random, draws).log()
    return found


def probabilities_over_backgrounds(
    model: Model, batch: Batch, rows: Tensor, replaced: Tensor, random: Randomness, draws: int
) -> Tensor:
    """Return [R, C] mean probabilities over draws, with the columns in `replaced` [R, L] drawn."""
    drawn = _drawn_rows(batch, random, draws)  # [B, K, L]
    means: list[Tensor] = []
    order: list[Tensor] = []
    for bucket in equal_lengths(batch.lengths[rows]):
        at = rows[bucket]
        repeated = batch.take(at)
        columns = repeated.mask.shape[1]
        outputs = []
        for draw in range(draws):
            inputs = torch.where(replaced[bucket, :columns], drawn[at, draw, :columns], repeated.inputs)
            changed = replace(repeated, inputs=inputs)
            outputs.append(model.run(changed, model.embed(changed)).logits.double().softmax(-1))
        means.append(torch.stack(outputs).mean(0))  # [r, C]
        order.append(bucket)
    return torch.cat(means)[torch.cat(order).argsort()]


def _drawn_rows(batch: Batch, random: Randomness, draws: int) -> Tensor:
    """Return [B, K, L] rows of features, each drawn uniformly from the spares of its example."""
    spares = [example.spares or () for example in batch.examples]
    sizes = torch.tensor([len(rows) for rows in spares], device=batch.inputs.device)  # [B]
    longest = int(sizes.max())
    pool = torch.tensor(
        [(*rows, *[0] * (longest - len(rows))) for rows in spares], device=batch.inputs.device
    )
    place = (random.to("backgrounds").uniform(batch, draws) * sizes[:, None, None]).long()  # [B, K, L]
    return pool.gather(1, place.flatten(1)).view_as(place)
