"""transformers' own models, tiny and random, saved as such models are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiny_clip import LIMIT, WORDS, write_tiny_clip

SIDE = 16


def write_model(folder: Path, kind: str) -> Path:
    """A random model of a few thousand weights, saved as such models are."""
    import torch
    import transformers

    torch.manual_seed(0)
    text = {
        "vocab_size": len(WORDS),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": LIMIT,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    vision = {
        "image_size": SIDE,
        "patch_size": 8,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    if kind == "clip":
        config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=12)
        model, processor = transformers.CLIPModel(config), transformers.CLIPImageProcessor
        sizes: dict[str, Any] = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
    else:
        config = transformers.SiglipConfig(text_config={**text, "projection_size": 16}, vision_config=vision)
        model, processor = transformers.SiglipModel(config), transformers.SiglipImageProcessor
        sizes = {"size": {"height": SIDE, "width": SIDE}}
    model.eval().save_pretrained(folder)
    processor(**sizes).save_pretrained(folder)
    write_tiny_clip(folder / "words", towers=("text",))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "words" / "tokenizer.json"),
        pad_token="<pad>",
        model_max_length=LIMIT,
        # SigLIP was trained without a mask, and its tokenizer gives none.
        model_input_names=["input_ids", "attention_mask"] if kind == "clip" else ["input_ids"],
    )
    tokenizer.save_pretrained(folder)
    return folder
