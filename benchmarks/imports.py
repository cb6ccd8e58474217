"""What `import sightline` costs beside `import numpy, pydantic`: median of interleaved fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

CASES = {
    "numpy, pydantic": "import numpy, pydantic",
    "sightline": "import sightline",
    "sightline, every noun": "import sightline.types",
    "sightline.scan": "import sightline; sightline.scan",
    "command line (--version)": "from sightline.cli import main\nmain(['--version'])",
}
ROUNDS = 15


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    bare = statistics.median(seconds("") for _ in range(ROUNDS))
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(ROUNDS):
        for name, code in CASES.items():
            times[name].append(seconds(code) - bare)
    base = statistics.median(times["numpy, pydantic"])
    for name, found in times.items():
        print(f"  {name:28} {1000 * statistics.median(found):6.0f} ms   {statistics.median(found) / base:5.2f} ×")


if __name__ == "__main__":
    main()
