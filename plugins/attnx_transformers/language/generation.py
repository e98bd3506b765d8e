"""The answer that a language model gives by itself: at each step the most probable piece."""

from __future__ import annotations

import torch

from attnx.plugin import Batch

from ..checkpoints import quiet
from ..network import Network


def generated(network: Network, batch: Batch, longest: int) -> tuple[int, ...]:
    """The pieces that the model itself gives after a prompt, without the one that ends the answer."""
    ids = batch.inputs[0, :, :-1].flatten()
    prompt = ids[ids >= 0].long().to(network.transformer.device)[None]  # [1, T]
    room = network.pieces.limit - prompt.shape[1]
    greedy = {"do_sample": False, "num_beams": 1, "max_new_tokens": max(1, min(longest, room))}
    with quiet(), torch.no_grad():
        made = network.transformer.generate(
            prompt, attention_mask=torch.ones_like(prompt), repetition_penalty=1.0, **greedy
        )
    found = made[0, prompt.shape[1] :].tolist()
    ends = _ends(network)
    first = next((at for at, piece in enumerate(found) if piece in ends), len(found))
    return tuple(found[:first])


def _ends(network: Network) -> frozenset[int]:
    """The pieces that end an answer."""
    said = getattr(network.transformer.generation_config, "eos_token_id", None)
    several = said if isinstance(said, list) else [said]
    known = (*several, network.pieces.tokenizer.eos_token_id)
    return frozenset(piece for piece in known if piece is not None)
