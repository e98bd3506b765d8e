"""A classifier of your own, as plain as they come, measured as it is."""

import torch
from torch import nn

import attnx

WORDS = {word: 2 + n for n, word in enumerate("the film was dull bland vivid witty and quite rather".split())}


class Weights(nn.Sequential):
    """Attention [B, L, 1]."""


class Net(nn.Module):
    """Embedding, encoder, attention, linear."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(12, 8)
        self.encoder = nn.GRU(8, 8, batch_first=True)
        self.attention = Weights(nn.Linear(8, 1), nn.Softmax(dim=1))
        self.out = nn.Linear(8, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.encoder(self.embedding(ids))
        return self.out((self.attention(hidden) * hidden).sum(1))


# The whole of it: name the pieces, look at what it can do, measure.
model = attnx.wrap(Net(), inputs=WORDS, unknown=1, attention="attention", hidden="encoder")
print("provides", ", ".join(model.provides))
for word, why in model.cannot.items():
    print("cannot", word, "-", why)
report = attnx.evaluate("sdc-text", model, metrics=["comprehensiveness", "permutation", "plausibility"])
for s in report.summaries:
    if s.group == "all":
        print(f"{s.metric:<20} {s.measure:<20} {s.shown}  random {s.baselines.get('random')}")
