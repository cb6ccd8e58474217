"""Small real folders whose names are as bad as names can be, for the tests of what results look like."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pictures import random_picture
from sightline.agent.ask import AskResult
from sightline.agent.loop import Answered
from sightline.agent.trajectory import End, Memory, Recorder, Start, Turn, Use, ViewedPicture
from sightline.benchmark.folder import write_benchmark
from sightline.benchmark.formats.replies import to_exact
from sightline.retrieval.results import Hit, Results
from sightline.runs.folder import blob_path, write_run
from sightline.types import (
    Attempt,
    Benchmark,
    Choice,
    Corpus,
    Failure,
    Option,
    Picture,
    PictureRef,
    Ranking,
    Relevance,
    Run,
    Task,
    Text,
)

EVIL = "<script>alert(1)</script>"
PICTURES, TASKS = 6, 12


@dataclass(frozen=True)
class Sample:
    """A benchmark with its pictures, two runs on it, and a corpus."""

    benchmark: Path
    runs: tuple[Path, Path]
    pictures: Path
    corpus: Corpus


def make_sample(folder: Path) -> Sample:
    """Six drawn pictures, twelve rank tasks and one choice, a run that is good and one that is not."""
    corpus = _corpus(folder / "pictures")
    names = list(corpus.pictures)
    tasks = {f"q{n}": Task(f"q{n}", "rank", (f"{EVIL} number {n}",), labels={"place": (EVIL,)}) for n in range(TASKS)}
    options = (Option("A", ("a dog",)), Option("B", (f"a boat {EVIL}",)))
    tasks["choice"] = Task("choice", "choose", ("What is on ", PictureRef(names[0]), "?"), options=options)
    truth = {f"q{n}": Relevance({names[n % PICTURES]: 2, names[(n + 1) % PICTURES]: 1}) for n in range(TASKS)}
    whole = Benchmark(f"coast {EVIL}", corpus, tasks, {**truth, "choice": Choice("A")}, metrics=("ndcg@10", "map"))
    written = write_benchmark(whole, folder / "bench")
    runs = folder / "runs" / "good", folder / "runs" / "poor"
    for place, system, shift in zip(runs, (f"good {EVIL}", "poor"), (0, 2), strict=True):
        attempts = [
            Attempt(f"q{n}", Ranking(tuple(names[(n + shift + k) % PICTURES] for k in range(4)))) for n in range(TASKS)
        ]
        attempts[3] = Attempt("q3", Failure("timeout", f"no reply {EVIL}"))
        run = Run(written.name, system, (*attempts, Attempt("choice", Choice("B"))), written.checksum)
        write_run(run, place)
    return Sample(folder / "bench", runs, folder / "pictures", corpus)


def _corpus(folder: Path) -> Corpus:
    folder.mkdir(parents=True)
    held = {}
    for number in range(PICTURES):
        file = folder / f"{number}.jpg"
        random_picture(number, (640, 480) if number % 2 else (300, 500)).save(file)
        name = f"{EVIL}/{number}.jpg"
        held[name] = Picture(name, file.as_uri(), taken_at=datetime(2024, 5, number + 1), address=EVIL)
    return Corpus(f"coast {EVIL}", held)


def make_results(sample: Sample, hits: int = PICTURES) -> Results:
    """Hits of a search, the last of which is not on this machine."""
    known = list(sample.corpus.pictures.values())
    found = [Hit(known[n % PICTURES], 0.5 - n / 100, {"vectors": 0.5}, (EVIL,), EVIL) for n in range(hits)]
    gone = Hit(Picture("gone.jpg", "file:///nowhere/gone.jpg"), 0.1)
    return Results(f"a dog {EVIL}", (*found, gone), "photos", "1", 600, notes=(f"note {EVIL}",))


def make_answer(sample: Sample, folder: Path) -> AskResult:
    """An agent's answer, with the way to it."""
    shown = []
    for file in sorted(sample.pictures.iterdir())[:2]:
        key = hashlib.sha256(file.read_bytes()).hexdigest()
        blob_path(folder, key).parent.mkdir(parents=True, exist_ok=True)
        blob_path(folder, key).write_bytes(file.read_bytes())
        shown.append(ViewedPicture(file.name, key, f"{EVIL}/{file.name}", made_by="zoom"))
    end = End("text", to_exact(Text(f"at sea {EVIL}")), reason=EVIL, turns=2, tokens=1200, seconds=3.0)
    recorder = Recorder(folder)
    recorder.write(Start("ask-1", 0, "answer", "a/model", (), "", (f"where? {EVIL}", shown[0])))
    uses: tuple[Use, ...] = (Use("1", "search", f'{{"query": "{EVIL}"}}', "2 found", tuple(shown), ("a", "b")),)
    uses += (Use("2", "zoom", "{}", f"no such picture {EVIL}", error=True),)
    recorder.write(Turn(1, "x", thought=f"I look {EVIL}", uses=uses))
    recorder.write(Memory("tokens", f"so far {EVIL}", "a/model"))
    recorder.write(Turn(2, "x", failure=Failure("timeout", EVIL)))
    recorder.write(end)
    pictures = tuple(sample.corpus.pictures.values())[:2]
    return AskResult(f"where? {EVIL}", f"at sea {EVIL}", pictures, Answered(end), folder, "ask-1")
