"""Train the built-in models on pictures of the world that pictures.py has drawn.

Run, on a machine with a GPU and 16 cores (about 20 minutes in all):
  PYTHONPATH=src:packages/sightline-world/src python training/world/pictures.py
  PYTHONPATH=src:packages/sightline-world/src python training/world/train.py all --out OUT
Parts can be run apart: read (pictures → things), signs (cut-outs → words), join (scenes and words → one space).
Needs torch, numpy and Pillow. Then, on any machine with onnx and onnxruntime too:
  python training/world/export.py --weights OUT \\
    --out packages/sightline-world/src/sightline_world/models/weights
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from join import train_join
from reader import train_reader
from signs import train_signs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["all", "read", "signs", "join"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("training/world/cache"))
    parser.add_argument("--minutes", type=float, nargs=3, default=[12.0, 2.0, 4.0], help="for reader, signs and join")
    parser.add_argument("--steps", type=int, help="instead of minutes, for a quick try")
    parser.add_argument("--batch", type=int, default=256)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    torch.set_float32_matmul_precision("high")
    if chosen.part in ("all", "read"):
        train_reader(chosen.cache, chosen.out, chosen.minutes[0], chosen.batch, chosen.steps)
    if chosen.part in ("all", "signs"):
        train_signs(chosen.cache, chosen.out, chosen.minutes[1], 512, chosen.steps)
    if chosen.part in ("all", "join"):
        train_join(chosen.cache, chosen.out, chosen.minutes[2], 1536, chosen.steps)


if __name__ == "__main__":
    main()
