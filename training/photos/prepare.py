"""Lay out what training needs in one small folder: captions as word pieces, picture features, MiniLM's weights.

Run: python training/photos/prepare.py --data ../shared/data/flickr8k --out training/photos/cache
Needs Sightline with its extra `photos`. Only the word pieces that occur are kept of MiniLM's table, so that the folder
(about 60 MB) can travel to a machine with a GPU, where torch and numpy are all that train.py needs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sightline.models.photos.joint_vectors import class_texts
from sightline.models.photos.weight_files import read_safetensors
from sightline.models.photos.weights import ENCODER, TOKENIZER

LONGEST = 40
"""Captions are cut after this many word pieces."""
SPECIAL = 104
"""Word pieces with a meaning of their own come first; the last of them is [MASK], 103."""
WORDS = "embeddings.word_embeddings.weight"


def tokenise(tokenizer: Tokenizer, texts: list[str]) -> NDArray[np.int32]:
    """Rows of word pieces, zero where a text has ended."""
    rows = np.zeros((len(texts), LONGEST), np.int32)
    for row, encoding in zip(rows, tokenizer.encode_batch(texts), strict=True):
        ids = encoding.ids[:LONGEST]
        row[: len(ids)] = ids
    return rows


def read_split(data: Path, split: str, tokenizer: Tokenizer) -> dict[str, NDArray[Any]]:
    """Captions and features of one split, by what train.py calls them."""
    lines = [json.loads(line) for line in (data / f"{split}-captions.jsonl").read_text("utf-8").splitlines()]
    features = np.load(data / f"{split}.npz")
    assert [line["file"] for line in lines] == features["files"].tolist()
    return {
        f"{split}_tokens": tokenise(tokenizer, [caption for line in lines for caption in line["captions"]]),
        f"{split}_pooled": features["efficientnet_lite2_pooled"],
        f"{split}_class": features["efficientnet_lite2_top32_class"],
        f"{split}_logit": features["efficientnet_lite2_top32_logit"],
        f"{split}_check": features["caption_minilm"][:200],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(TOKENIZER.find()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = class_texts()
    arrays: dict[str, NDArray[Any]] = {
        "class_tokens": tokenise(tokenizer, [entry.text for entry in texts]),
        "class_of_text": np.array([entry.number for entry in texts], np.int32),
        "best_known": np.array([entry.best_known for entry in texts]),
        **read_split(options.data, "train", tokenizer),
        **read_split(options.data, "dev", tokenizer),
    }
    tokens = [name for name in arrays if name.endswith("_tokens")]
    used = np.unique(np.concatenate([np.arange(SPECIAL), *(arrays[name].ravel() for name in tokens)]))
    for name in tokens:
        arrays[name] = np.searchsorted(used, arrays[name]).astype(np.int16)
    weights = dict(read_safetensors(ENCODER.find()))
    weights[WORDS] = weights[WORDS][used]
    kept = {name: value.astype(np.float16) for name, value in weights.items() if value.dtype == np.float32}
    np.savez(options.out / "data.npz", **arrays)
    np.savez(options.out / "minilm.npz", **{name: kept[name] for name in kept if not name.startswith("pooler")})
    print(f"{options.out}: {len(used):,} word pieces, {len(arrays['train_pooled']):,} training pictures")


if __name__ == "__main__":
    main()
