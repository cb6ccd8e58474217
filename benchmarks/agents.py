"""The rule-based agent `builtin/world` beside plain search on a life that nobody saw before, in phrasings held out.

Run: python benchmarks/agents.py [--tasks 100] [--seed 90210] [--pictures 600] [--no-ablations] [--album]
[--json FILE]. One life is drawn; `select` and `answer` tasks in the family `held-out` are the trial, `select` tasks in
the family `training` tune the cut-offs of plain search. Direct retrieval ranks by the whole request (embedder `world`);
hybrid search ranks by what the planner's own grammar takes for the target, filtered by the times and towns that the
request names. For both, numbers of pictures and scores to cut at are tried on the tuning tasks, and the best is used.
The agent has all its tools; then one of them, or one memory, is taken away. Differences are paired by task. With
--album, only the pictures that the agent views for each of ten questions about the whole album, as `ask` puts them, are
counted.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sightline.agent.ask import ask
from sightline.benchmark.folder import write_benchmark
from sightline.calls.session import Session
from sightline.metrics.comparison import compare
from sightline.metrics.scores import Scores
from sightline.runs.runner import run
from sightline.runs.systems.base import SystemSetting
from sightline.runs.systems.retriever import HybridOptions, Retriever, RetrieverOptions
from sightline.scoring import score
from sightline.types import Attempt, Benchmark, PictureSet, Ranking, Run, SearchQuery, Task
from sightline.types.task_table import Tasks
from sightline_world.models.chat.claims import say_all
from sightline_world.models.chat.planning.requests import read_search_request
from sightline_world.tasks.benchmark import WORLD, world_benchmark

AGENT = "agent:model=builtin/world,embedder=world"
ABLATIONS = {
    "without GetMetadata": "without=GetMetadata",
    "without FilterMetadata": "without=FilterMetadata",
    "without ViewPhotos": "without=ViewPhotos",
    "without named subsets": "subsets=false",
    "without compression": "compression=false",
}
DISBENCH = {
    "without GetMetadata": -5.7,
    "without FilterMetadata": -5.0,
    "without ViewPhotos": -3.9,
    "without named subsets": -4.9,
    "without compression": -2.9,
}
"""What the same costs Gemini-3-Flash on DISBench: points of overall F1, from 36.8."""
_DEEPEST = 60
_ALBUM = (
    "What colour is the dog?",
    "What does the sign at the harbour say?",
    "Who wears a red hat?",
    "What is written on the blue car?",
    "How many photos show a dog?",
    "Is there a red bicycle beside a tree?",
    "What colour is the boat in front of the house?",
    "Find the photos of a man with a hat.",
    "Where is the cat?",
    "Which of my photos is the reddest car?",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=90210)
    parser.add_argument("--pictures", type=int, default=600)
    parser.add_argument("--no-ablations", action="store_true")
    parser.add_argument("--album", action="store_true")
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sightline-agents-") as folder:
        if given.album:
            found = album(Path(folder), given.seed, given.pictures)
        else:
            found = trial(Path(folder), given.seed, given.tasks, given.pictures, ablations=not given.no_ablations)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1))


def trial(folder: Path, seed: int, tasks: int, pictures: int, *, ablations: bool) -> dict[str, Any]:
    """Draw, run, print; the numbers."""
    started = time.perf_counter()
    # About half of the tasks are of each family.
    whole = world_benchmark(folder / "life", seed, pictures=pictures, count=3 * tasks, kinds=("select", "answer"))
    select = _part(whole, folder / "select", "select", "held-out", tasks)
    tuning = _part(whole, folder / "tuning", "select", "training", tasks)
    answer = _part(whole, folder / "answer", "answer", "held-out", tasks)
    print(f"life {seed}: {pictures} pictures; {len(select.tasks)} select, {len(answer.tasks)} answer tasks", flush=True)
    runs = {"direct retrieval": direct(folder, tuning, select), "hybrid, parsed": hybrid(folder, tuning, select)}
    runs["agent"] = _agent(folder, "select", "")
    for name, options in ABLATIONS.items() if ablations else ():
        runs[name] = _agent(folder, "select", options)
    asked = {
        "chat, no tools": _run(folder, "answer", "chat:model=builtin/world", "chat"),
        "agent": _run(folder, "answer", f"{AGENT},web=world", "answers"),
    }
    found = {"select": _table("F1", "f1", runs, "agent"), "answer": _table("accuracy", "answer", asked, "agent")}
    print(f"{time.perf_counter() - started:.0f} s")
    return found


def album(folder: Path, seed: int, pictures: int) -> dict[str, Any]:
    """How many pictures the agent views for a question about an album, and how many of them are different ones."""
    world_benchmark(folder / "life", seed, pictures=pictures, count=1, kinds=("select",))
    found: dict[str, dict[str, Any]] = {}
    print("\n| question | views | pictures | turns | ended by |\n|---|---|---|---|---|")
    for question in _ALBUM:
        asked = ask(question, folder / "life" / WORLD / "pictures", model="builtin/world", workspace=folder / "ws")
        viewed = [picture.name for use in asked.steps().uses for picture in use.pictures]
        end = asked.answered.end
        found[question] = {"views": len(viewed), "pictures": len(set(viewed)), "turns": end.turns, "forced": end.forced}
        print(f"| {question} | {len(viewed):,} | {len(set(viewed))} | {end.turns} | {end.forced or 'an answer'} |")
    print(f"{sum(each['views'] for each in found.values()):,} views in all")
    return found


# --- plain search ----------------------------------------------------------------------------------------------


def direct(folder: Path, tuning: Benchmark, select: Benchmark) -> Scores:
    """Rank by the whole request."""
    options = RetrieverOptions(embedder="world", k=_DEEPEST)
    return _cut(folder, options, lambda task: SearchQuery(task.text, scope=task.scope, k=_DEEPEST), tuning, select)


def hybrid(folder: Path, tuning: Benchmark, select: Benchmark) -> Scores:
    """Rank by what is asked for, among what the named times and towns leave."""

    def query(task: Task) -> SearchQuery:
        errand = read_search_request(task.text)
        text = say_all(errand.target.claims) or task.text
        return SearchQuery(text, where=errand.named.filter() or None, scope=task.scope, k=_DEEPEST)

    return _cut(folder, HybridOptions(embedder="world", k=_DEEPEST), query, tuning, select)


def _cut(
    folder: Path,
    options: RetrieverOptions,
    query: Callable[[Task], SearchQuery],
    tuning: Benchmark,
    select: Benchmark,
) -> Scores:
    """Rankings, cut where the tuning tasks are answered best."""
    retriever = Retriever(options, SystemSetting(tuning, base=folder / "tuning", session=Session(folder / "ws")))
    tuple(retriever.prepare())
    searcher = retriever.searcher
    assert searcher is not None

    def ranked(benchmark: Benchmark) -> dict[str, Ranking]:
        found = {}
        for task in benchmark.tasks.values():
            hits = searcher.search(query(task), options.method()).hits
            found[task.id] = Ranking(tuple(hit.picture.id for hit in hits), tuple(hit.score for hit in hits))
        return found

    tried = ranked(tuning)
    scores = [score for ranking in tried.values() for score in ranking.scores or ()]
    levels: Iterable[float] = np.quantile(scores, np.linspace(0.2, 0.995, 40)) if scores else ()
    cuts: list[tuple[int, float]] = [(count, -np.inf) for count in range(1, 41)]
    cuts += [(_DEEPEST, float(level)) for level in levels]
    best = max(cuts, key=lambda cut: _scored(tuning, tried, cut).overall["f1"].mean)
    return _scored(select, ranked(select), best)


def _scored(benchmark: Benchmark, rankings: Mapping[str, Ranking], cut: tuple[int, float]) -> Scores:
    count, level = cut
    attempts = [
        Attempt(task, PictureSet(_above(ranking.pictures[:count], ranking.scores or (), level)))
        for task, ranking in rankings.items()
    ]
    return score(benchmark, Run(benchmark.name, "search", tuple(attempts), benchmark.checksum), ("f1",))


def _above(pictures: Sequence[str], scores: Sequence[float], level: float) -> tuple[str, ...]:
    return tuple(name for name, score in zip(pictures, scores, strict=False) if score >= level)


# --- systems under test ----------------------------------------------------------------------------------------


def _agent(folder: Path, part: str, options: str) -> Scores:
    return _run(folder, part, ",".join(filter(None, (AGENT, options))), options.replace("=", "-") or "agent")


def _run(folder: Path, part: str, spec: str, name: str) -> Scores:
    out = folder / "runs" / f"{part}-{name}"
    run(folder / part, spec, out, workspace=folder / "ws")
    return score(folder / part, out)


def _part(whole: Benchmark, folder: Path, kind: str, phrasing: str, count: int) -> Benchmark:
    """The first tasks of a kind and a family of phrasings, over the same pictures."""
    life = folder.parent / "life"
    tasks = [task for task in whole.tasks.values() if task.kind == kind and task.labels["phrasing"] == (phrasing,)]
    kept = {task.id: task for task in tasks[:count]}
    pictures = {id_: replace(each, uri=str(life / each.uri)) for id_, each in whole.corpus.pictures.items()}
    made = replace(
        whole,
        tasks=Tasks(kept),
        truth={id_: whole.truth[id_] for id_ in kept},
        corpus=replace(whole.corpus, pictures=pictures),
        metrics=(),
    )
    written = write_benchmark(made, folder)
    (folder / WORLD).symlink_to(life / WORLD)
    return written


# --- printing --------------------------------------------------------------------------------------------------


def _table(title: str, metric: str, runs: Mapping[str, Scores], reference: str) -> dict[str, Any]:
    """Each run with its interval, and by how much the reference is ahead of it."""
    found: dict[str, Any] = {}
    print(f"\n| | {title} | {reference} minus it | DISBench |\n|---|---|---|---|")
    for name, scores in runs.items():
        estimate = scores.overall[metric]
        row = [name, _interval(estimate.mean, estimate.low, estimate.high)]
        found[name] = {"estimate": asdict(estimate)}
        if name != reference:
            compared = compare(
                [scores, runs[reference]], (metric,), names=(name, reference), allow_failures_differ=True
            )
            ahead = compared.pairs[0].difference
            row.append(_interval(ahead.mean, ahead.low, ahead.high, sign="+"))
            found[name]["ahead"] = {"mean": ahead.mean, "low": ahead.low, "high": ahead.high}
        cost = DISBENCH.get(name)
        print(
            f"| {' | '.join([*row, *[''] * (3 - len(row)), '' if cost is None else f'{-cost / 100:+.3f}'])} |",
            flush=True,
        )
    _print_slices(metric, runs[reference])
    return found


def _print_slices(metric: str, scores: Scores) -> None:
    parts = scores.by_label.get("template", {})
    means: Iterable[str] = (f"{name} {found[metric].mean:.2f} ({found[metric].n})" for name, found in parts.items())
    print("by template:", ", ".join(means))


def _interval(mean: float, low: float, high: float, sign: str = "") -> str:
    return f"{mean:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


if __name__ == "__main__":
    main()
