"""What each verb loads: modules of ours, and processor time beside `import numpy, pydantic`.

    python benchmarks/imports.py [ROUNDS]

Interleaved fresh processes; the median of user and system time, less that of a bare Python. Every verb is asked for its
help; `formats`, `score trec` and `score` also do their work, on files that are made here.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from sightline.benchmark.folder import write_benchmark
from sightline.cli.app import _VERBS
from sightline.runs.folder import write_run
from sightline.types import Attempt, Benchmark, Corpus, Picture, Ranking, Relevance, Run, Task

IMPORTS = {
    "import numpy, pydantic": "import numpy, pydantic",
    "import sightline": "import sightline",
    "import sightline.types": "import sightline.types",
}
COUNT = "import sys; print(sum(name.partition('.')[0] == 'sightline' for name in sys.modules), file=sys.stderr)"


def command(*words: str) -> str:
    """Python code that runs the command line and goes on."""
    return f"from sightline.cli import main\ntry:\n    main({list(words)!r})\nexcept SystemExit:\n    pass"


def measure(code: str, folder: Path) -> tuple[float, int]:
    """Processor seconds, and modules of ours."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{COUNT}"], cwd=folder, check=True, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, int(done.stderr.split()[-1])


def write_files(folder: Path) -> None:
    """A benchmark with one task, a run on it, and the same as TREC files."""
    picture, task = Picture("a.jpg", "a.jpg"), Task("q1", "rank", ("a dog",))
    bench = Benchmark("one", Corpus("one", {picture.id: picture}), {task.id: task}, {task.id: Relevance({"a.jpg": 1})})
    write_benchmark(bench, folder / "bench")
    attempt = Attempt("q1", Ranking(("a.jpg",), (1.0,)))
    write_run(Run(benchmark="one", system="oracle", attempts=(attempt,)), folder / "run")
    (folder / "qrels").write_text("q1 0 a.jpg 1\n")
    (folder / "ranked").write_text("q1 Q0 a.jpg 1 1.0 system\n")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_files(folder)
        cases = {
            **IMPORTS,
            "sightline formats": command("formats"),
            "sightline score trec QRELS RUN": command("score", "trec", "qrels", "ranked", "--metrics", "ndcg@10"),
            "sightline score BENCH RUN": command("score", "bench", "run", "--json"),
            **{f"sightline {verb} --help": command(verb, "--help") for verbs in _VERBS.values() for verb, *_ in verbs},
        }
        found: dict[str, list[tuple[float, int]]] = {name: [] for name in cases}
        bare = [measure("", folder)[0] for _ in range(rounds)]
        for _ in range(rounds):
            for name, code in cases.items():
                found[name].append(measure(code, folder))
    idle = statistics.median(bare)
    base = statistics.median(seconds for seconds, _ in found["import numpy, pydantic"]) - idle
    rows = {
        name: {
            "modules": counts[0][1],
            "ratio": round((statistics.median(seconds for seconds, _ in counts) - idle) / base, 2),
        }
        for name, counts in found.items()
    }
    for name, row in rows.items():
        print(f"  {name:34} {row['modules']:4d} modules   {row['ratio']:5.2f} ×")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
