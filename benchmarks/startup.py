"""`sightline search` on an index that is there, beside a bare loop: python benchmarks/startup.py FOLDER [ROUNDS].

FOLDER holds pictures; they are indexed once with `photos`. The bare loop imports numpy, onnxruntime and tokenizers,
opens the same text model, embeds the same words, and multiplies. CPU of whole processes, in turns; medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import sightline
from sightline.models.photos.networks import find_networks

BARE = """
import sys
import numpy as np, onnxruntime
from tokenizers import Tokenizer
folder, vectors, words = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(f"{folder}/texts.onnx", options, providers=["CPUExecutionProvider"])
ids = np.array(Tokenizer.from_file(f"{folder}/tokenizer.json").encode(words).ids, np.int64)
found = dict(zip([one.name for one in session.get_outputs()], session.run(None, {session.get_inputs()[0].name: ids})))
query = np.concatenate([0.9 * found["head"][0], 0.1 * found["words"][0]])
print(np.argsort(-(np.load(vectors) @ query))[:10])
"""


def cpu(line: list[str], environment: dict[str, str]) -> float:
    before = os.times()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main(pictures: Path, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sightline.index(pictures, embedder="photos", workspace=folder)
        vectors = Path(folder) / "vectors.npy"
        np.save(vectors, sightline.embed(pictures, embedder="photos", workspace=folder).vectors)
        bare = [sys.executable, "-c", BARE, str(find_networks(with_head=True).folder), str(vectors)]
        ours = [sys.executable, "-m", "sightline", "search", "--workspace", folder]
        imports = [sys.executable, "-c", "import numpy, onnxruntime, tokenizers"]
        # As installed: modules are compiled once.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        cpu([*ours, "a cat"], environment)
        times: dict[str, list[float]] = {"imports alone": [], "bare loop": [], "sightline search": []}
        for number in range(rounds):
            words = f"a dog on a beach {number}"
            for name, line in zip(times, (imports, [*bare, words], [*ours, words]), strict=True):
                times[name].append(cpu(line, environment))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in medians.items():
        print(
            f"{name:<20} {seconds:.2f} s of CPU, {seconds / medians['bare loop']:.2f} × (load {os.getloadavg()[0]:.0f})"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9)
