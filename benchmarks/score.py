"""All measurements of scoring in one run: TREC files, texts, the paired bootstrap. Options go to none of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PARTS = ("score_trec.py", "score_text.py", "score_bootstrap.py")


def main() -> None:
    for part in PARTS:
        print(f"== {part}", flush=True)
        subprocess.run([sys.executable, Path(__file__).with_name(part)], check=True)


if __name__ == "__main__":
    main()
