"""Measures the memory table of docs/language-models.md, each row in a process of its own.

Run `python docs/data/language_memory.py`; it takes about a minute and writes docs/data/language/memory.json,
which docs/data/language.py puts into the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
SIZES = {"one layer": (1000, 2000, 4000, 8000), "all layers": (1000, 2000)}
LAYERS, HEADS, SIZE = 12, 8, 256


def main() -> None:
    """All rows, or the one that the arguments name."""
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
        return
    rows = [(way, pieces) for way, several in SIZES.items() for pieces in several]
    found = {way: {} for way in SIZES}  # type: ignore[var-annotated]
    for way, pieces in rows:
        made = subprocess.run(
            [sys.executable, __file__, way, str(pieces)], check=True, capture_output=True, text=True
        )
        found[way][str(pieces)] = json.loads(made.stdout.splitlines()[-1])
        print(way, pieces, found[way][str(pieces)], flush=True)
    stored = {"layers": LAYERS, "heads": HEADS, "hidden": SIZE, "megabytes": found}
    (HERE / "language" / "memory.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def measured(way: str, pieces: int) -> float:
    """MB that a pass over one text takes at most, in addition to what there was before it."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    sys.path.insert(0, str(HERE.parents[1]))
    from attnx.plugin import Example, TaskData
    from attnx_transformers.causal import HfCausal
    from attnx_transformers.options import HfCausalOptions
    from benchmarks.peak_memory import peak

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "no", "yes", *(f"w{number}" for number in range(1000))]
    cut = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    cut.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=SIZE, intermediate_size=3 * SIZE, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=8192, pad_token_id=0, bos_token_id=None,
        eos_token_id=None,
    )  # fmt: skip
    text = Example("long", tuple(f"w{at * 7 % 1000}" for at in range(pieces)), 0)
    with TemporaryDirectory() as folder:
        LlamaForCausalLM(config).save_pretrained(folder)
        PreTrainedTokenizerFast(
            tokenizer_object=cut, pad_token="[PAD]", unk_token="[UNK]", model_max_length=8192
        ).save_pretrained(folder)
        data = TaskData((text,), (), (), ("no", "yes"))
        model = HfCausal(data, HfCausalOptions(checkpoint=folder, template="{text}")).eval()
    with torch.no_grad():
        short = model.encode([Example("short", text.units[:20], 0)])
        model.run(short, model.embed(short))  # what the first pass allocates for good
        batch = model.encode([text])
        vectors = model.embed(batch)
        if way == "all layers":
            return peak(lambda: model.layers(batch, vectors))[0]
        return peak(lambda: model.one_layer(batch, vectors, LAYERS // 2, "own"))[0]


if __name__ == "__main__":
    main()
