"""A tiny Llama in the format of llama.cpp."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
from raw_checkpoints import byte_level

HIDDEN, HEADS, SHARED, INNER, LAYERS, PLACES = 64, 4, 2, 96, 2, 160
CHAT = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def write(path: Path) -> Path:
    """Write the file: random weights of 8 bits, a byte-level tokenizer, a chat template."""
    made = json.loads(byte_level().to_str())["model"]
    pieces = sorted(made["vocab"], key=made["vocab"].__getitem__)
    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(PLACES)
    out.add_embedding_length(HIDDEN)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(SHARED)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_freq_base(10_000.0)
    out.add_rope_dimension_count(HIDDEN // HEADS)
    out.add_vocab_size(len(pieces))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("smollm")
    out.add_token_list(pieces)
    out.add_token_types([gguf.TokenType.CONTROL if piece.startswith("<") and piece.endswith(">") else
                         gguf.TokenType.NORMAL for piece in pieces])  # fmt: skip
    out.add_token_merges([" ".join(pair) for pair in made["merges"]])
    out.add_bos_token_id(0)
    out.add_eos_token_id(2)
    out.add_pad_token_id(1)
    out.add_add_bos_token(False)
    out.add_chat_template(CHAT)
    random = np.random.default_rng(0)
    shared = HIDDEN * SHARED // HEADS
    shapes = {"attn_q": (HIDDEN, HIDDEN), "attn_k": (shared, HIDDEN), "attn_v": (shared, HIDDEN),
              "attn_output": (HIDDEN, HIDDEN), "ffn_gate": (INNER, HIDDEN), "ffn_up": (INNER, HIDDEN),
              "ffn_down": (HIDDEN, INNER)}  # fmt: skip
    matrices = {
        f"blk.{layer}.{name}.weight": shape for layer in range(LAYERS) for name, shape in shapes.items()
    }
    for name, shape in {"token_embd.weight": (len(pieces), HIDDEN), **matrices}.items():
        kind = gguf.GGMLQuantizationType.Q8_0
        values = random.normal(0, 0.3, shape).astype(np.float32)
        out.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    norms = [f"blk.{layer}.{name}.weight" for layer in range(LAYERS) for name in ("attn_norm", "ffn_norm")]
    for name in (*norms, "output_norm.weight"):
        out.add_tensor(name, np.ones(HIDDEN, dtype=np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path
