"""A classifier of your own, wrapped and measured."""

import torch
from torch import nn

import attnx


class Net(nn.Module):
    """Embedding, attention, linear."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.out = nn.Embedding(12, 8), nn.Linear(8, 2)
        self.attention = nn.Sequential(nn.Linear(8, 1), nn.Softmax(dim=1))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states = self.embedding(ids)
        return self.out((self.attention(states) * states).sum(1))


# Name the submodules, look at what the model can do, measure.
words = {word: 2 + n for n, word in enumerate("the film was dull bland vivid witty and quite rather".split())}
model = attnx.wrap(Net(), inputs=words, unknown=1, attention="attention")
print(attnx.check(model))
report = attnx.evaluate("sdc-text", model, metrics=["comprehensiveness", "permutation", "plausibility"])
for s in report.summaries:
    if s.group == "all":
        print(f"{s.metric:<20} {s.measure:<20} {s.shown}  random {s.baselines.get('random')}")
