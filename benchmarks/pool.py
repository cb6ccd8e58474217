"""Pool what systems found: 100,000 queries × 10 systems from run files, by `make --queries … --pool …`: time, memory.

    python benchmarks/pool.py [--queries 100000] [--systems 10] [--depth 10] [--log-lines 1000000]

Also: how long a log of a million lines takes to read and draw from, and how much memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

_PICTURES = 2_000


def write_pictures(folder: Path, rng: np.random.Generator) -> None:
    folder.mkdir()
    for number in range(_PICTURES):
        Image.fromarray(rng.integers(0, 255, (24, 24, 3), np.uint8)).save(folder / f"p{number}.png")


def write_queries(path: Path, queries: int, rng: np.random.Generator) -> None:
    counts = np.maximum(1, rng.pareto(0.9, queries)).astype(int)
    words = rng.integers(0, 30_000, (queries, 2))
    rows = (f"q{at},w{a} w{b} {at},{count}\n" for at, ((a, b), count) in enumerate(zip(words, counts, strict=True)))
    path.write_text("id,query,count\n" + "".join(rows))


def write_run(path: Path, queries: int, depth: int, rng: np.random.Generator) -> None:
    with path.open("w") as file:
        for query in range(queries):
            found = rng.integers(0, _PICTURES, depth)
            file.writelines(f"q{query} Q0 p{one}.png {rank} {depth - rank} s\n" for rank, one in enumerate(found, 1))


def write_log(path: Path, lines: int, rng: np.random.Generator) -> None:
    kinds = np.minimum(rng.pareto(0.5, lines), 1e9).astype(int)
    with path.open("w") as file:
        file.writelines(
            f'1.2.3.{kind % 250} - - "GET /search?q=w{kind % 999}+x{kind} HTTP/1.1" 200\n' for kind in kinds
        )


def measured(*arguments: str) -> dict[str, float]:
    """Seconds and peak memory of a command of ours, in a process of its own."""
    code = "import sys; from sightline.cli.app import main; main(sys.argv[1:])"
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1), "peak_mb": round(after.ru_maxrss / 1024)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--log-lines", type=int, default=1_000_000)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_log(folder / "access.log", given.log_lines, rng)
        (folder / "pictures.trec").write_text("1 Q0 p.jpg 1 1 s\n")
        log = [f"--queries={folder / 'access.log'}", "--query-pattern=q", f"--pool=a={folder / 'pictures.trec'}"]
        found = {"log": measured("make", *log, f"--out={folder / 'L'}", f"--workspace={folder / 'ws'}")}
        write_queries(folder / "queries.csv", given.queries, rng)
        pool = []
        for system in range(given.systems):
            write_run(folder / f"s{system}.trec", given.queries, given.depth, rng)
            pool.append(f"--pool=s{system}={folder / f's{system}.trec'}")
        write_pictures(folder / "photos", rng)
        measured("scan", str(folder / "photos"), f"--workspace={folder / 'ws'}")
        own = [str(folder / "photos"), f"--queries={folder / 'queries.csv'}", "--sample=0", *pool]
        found["pool"] = measured("make", *own, f"--out={folder / 'B'}", f"--workspace={folder / 'ws'}")
    print(json.dumps({**vars(given), **found}, indent=2))


if __name__ == "__main__":
    main()
