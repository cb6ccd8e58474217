"""A benchmark of your own queries: what people searched for, over your pictures, to be judged by people.

Its tasks have no labels yet. Where systems are named, what they find is the pool that `sightline assess` draws from.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.authoring.pool_from_systems import DEPTH, RUNS, Pool, PooledSystem, add_systems, read_runs
from sightline.authoring.query_clicks import PROVENANCE, WeakLabel
from sightline.authoring.query_sample import LoggedQuery, QueryLog, QuerySample, sample_queries
from sightline.authoring.stage import StageResult
from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import SAME_TASKS, read_benchmark, write_benchmark
from sightline.benchmark.formats.retrieval import picture_uri
from sightline.benchmark.provenance import CARD_FIELD, MAKERS_WORDS, Provenance
from sightline.calls.session import Session
from sightline.corpus.names import path_of
from sightline.corpus.view import open_corpus
from sightline.english import counted, some
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.io.jsonl import write_jsonl
from sightline.pictures import scan
from sightline.types import (
    Benchmark,
    Candidate,
    Corpus,
    Json,
    Picture,
    PictureRef,
    PictureSet,
    Ranking,
    Relevance,
    Task,
)
from sightline.types.task import WEIGHT

QUERIES_REPORT = "queries.json"
CLICKS = "clicks.jsonl"
_MAKERS = "People who judge in sightline assess or in the app; what nobody judged has no label."
_MOST_LISTED = 1_000_000
_METRICS = ("ndcg@10", "p@10", "rr@10")


def make_from_queries(
    queries: PathLike | QueryLog,
    systems: Mapping[str, Any],
    pictures: Path | None,
    out: Path,
    *,
    depth: int = DEPTH,
    seed: int | None = None,
    limit: int | None = None,
    session: Session,
    watch: Callable[[StageResult], None],
) -> Iterator[StageResult]:
    """Read and draw the queries, run or read the systems, and write the benchmark; run it again to go on."""
    log, seed = queries if isinstance(queries, QueryLog) else QueryLog(queries), seed or 0
    log = log if limit is None else replace(log, sample=min(limit, log.sample or limit))
    pictures = pictures or session.config.paths.pictures
    _refuse_judged(out)
    started = time.monotonic()
    drawn = sample_queries(log, seed)
    corpus = _corpus(pictures, session) if pictures is not None else _named_pictures(systems, drawn)
    tasks, wrong = _tasks(drawn, corpus)
    benchmark = write_benchmark(_benchmark(out, corpus, tasks, drawn), out, beside={QUERIES_REPORT: drawn.report})
    read = _about_queries(drawn, tasks, wrong, out, time.monotonic() - started)
    watch(read)
    yield read
    started, pool = time.monotonic(), Pool(benchmark, depth)
    pooled = list(add_systems(benchmark, systems, pool, session=session, seed=seed))
    candidates = pool.candidates() if len(pool) <= _MOST_LISTED else ()
    candidates = (*candidates, *_clicked(drawn.clicks, benchmark, candidates))
    about: dict[str, Json] = {one.name: one.to_json() for one in pooled}
    card: dict[str, Json] = {**benchmark.card, "pool": about, SAME_TASKS: [benchmark.checksum]}
    if candidates or pooled:
        write_benchmark(replace(benchmark, candidates=candidates, card=card), out)
    if drawn.clicks:
        write_jsonl(out / CLICKS, _click_rows(drawn.clicks))
    done = _about_pool(pooled, len(pool), out, time.monotonic() - started)
    watch(done)
    yield done


def _refuse_judged(out: Path) -> None:
    if not (out / HEADER).is_file():
        return
    made = read_benchmark(out)
    is_labelled = any(isinstance(one, Relevance) and one.grades for one in made.truth.values())
    if is_labelled or made.reviews:
        raise UserError(
            f"{out} holds {'labels' if is_labelled else 'decisions of people'}, which would be lost.",
            f"To add systems: sightline extend {out} RUN… --out BENCH2. For other queries choose another --out.",
        )


def _corpus(folder: Path, session: Session) -> Corpus:
    """The pictures of a folder, and the groups among them."""
    scan(folder, session=session)
    whole = open_corpus(session.workspace)
    below = Path(os.path.normpath(folder.expanduser().absolute()))
    pictures = {one.id: one for one in whole.pictures.values() if below in path_of(one.uri).parents}
    if not pictures:
        raise UserError(f"{folder} holds no picture that can be read.", "Give a folder with pictures in it.")
    kept = (replace(one, pictures=tuple(id_ for id_ in one.pictures if id_ in pictures)) for one in whole.groups)
    return Corpus(folder.resolve().name, pictures, tuple(group for group in kept if len(group.pictures) > 1))


def _named_pictures(systems: Mapping[str, Any], drawn: QuerySample) -> Corpus:
    """Without a folder, the pictures are those that the runs and the log name; nobody can look at them here."""
    names: dict[str, None] = dict.fromkeys(query.picture for query in drawn.queries if query.picture)
    for name, given in systems.items():
        path = Path(given).expanduser() if isinstance(given, str | os.PathLike) else None
        if path is None or path.suffix == ".toml" or not path.exists():
            raise UserError(f'The system "{name}" needs pictures to search.', "Name their folder: sightline make DIR …")
        for _, run in read_runs(path, name):
            said = (one.prediction for one in run.attempts)
            names.update((id_, None) for one in said if isinstance(one, Ranking | PictureSet) for id_ in one.pictures)
    if not names:
        raise UserError("There are no pictures.", "Name their folder: sightline make DIR --queries FILE --out BENCH.")
    return Corpus("pictures", {name: Picture(name, picture_uri(name, Path.cwd())) for name in names})


def _tasks(drawn: QuerySample, corpus: Corpus) -> tuple[dict[str, Task], list[str]]:
    """A rank task for each query; queries by a picture that is not in the corpus are left out."""
    weighted = len({query.weight for query in drawn.queries}) > 1
    tasks: dict[str, Task] = {}
    wrong: list[str] = []
    for query in drawn.queries:
        if query.picture is not None and query.picture not in corpus.pictures:
            wrong.append(query.picture)
            continue
        id_ = query.id if query.id not in tasks else f"{query.id}-{len(tasks)}"
        tasks[id_] = _task(id_, query, weighted)
    if not tasks:
        raise UserError(f"No query is left: {some(wrong, 3)} are not among the pictures.", "Check the column picture.")
    return tasks, wrong


def _task(id_: str, query: LoggedQuery, weighted: bool) -> Task:
    shown = () if query.picture is None else (PictureRef(query.picture),)
    labels = {"language": (query.language,)} | ({} if query.stratum is None else {"frequency": (query.stratum,)})
    extra = {"searches": query.count} | ({WEIGHT: query.weight} if weighted else {})
    return Task(id_, "rank", ((query.text,) if query.text else ()) + shown, labels=labels, extra=extra)


def _benchmark(out: Path, corpus: Corpus, tasks: Mapping[str, Task], drawn: QuerySample) -> Benchmark:
    kept = ("file", "searches", "forms", "merged", "drawn", "seed", "strata", "languages", "personal_data")
    about: dict[str, Json] = {name: drawn.report[name] for name in kept}
    card: dict[str, Json] = {CARD_FIELD: Provenance("given").to_json(), MAKERS_WORDS: _MAKERS, "queries": about}
    unjudged = {id_: Relevance({}) for id_ in tasks}
    return Benchmark(out.resolve().name, corpus, tasks, unjudged, metrics=_METRICS, card=card)


def _clicked(
    clicks: Mapping[str, list[WeakLabel]], benchmark: Benchmark, pool: Iterable[Candidate]
) -> Iterator[Candidate]:
    """Clicked pictures that no system found: they are looked at too."""
    known = {(one.task, one.picture) for one in pool}
    for task, labels in clicks.items():
        for label in labels if task in benchmark.tasks else ():
            if label.picture in benchmark.corpus.pictures and (task, label.picture) not in known:
                yield Candidate(task, label.picture, "pooled")


def _click_rows(clicks: Mapping[str, list[WeakLabel]]) -> Iterator[dict[str, Any]]:
    for task, labels in clicks.items():
        for label in labels:
            yield {"task": task, **label._asdict(), "provenance": PROVENANCE}


def _about_queries(
    drawn: QuerySample, tasks: Mapping[str, Task], wrong: list[str], out: Path, seconds: float
) -> StageResult:
    report = drawn.report
    personal = report["personal_data"]
    warnings = [f"{report['file']}: {what}: {count:,}" for what, count in report["problems"].items()]
    if wrong:
        warnings.append(f"{counted(len(wrong), 'query', 'queries')} by unknown pictures left out: {some(wrong, 5)}")
    for kind, count in personal["found"].items():
        done = {"mask": "masked", "drop": "dropped"}[personal["policy"]]
        warnings.append(f"personal data ({kind}) in {counted(count, 'query', 'queries')}, {done}; see {QUERIES_REPORT}")
    counts = {"searches": round(report["searches"]), "near-duplicates merged": report["merged"], "queries": len(tasks)}
    return StageResult("queries", (out / QUERIES_REPORT,), counts, warnings=tuple(warnings), seconds=seconds)


def _about_pool(pooled: list[PooledSystem], size: int, out: Path, seconds: float) -> StageResult:
    failures = {f"{one.name} {kind}": count for one in pooled for kind, count in one.failures.items()}
    warnings = [warning for one in pooled for warning in one.warnings()]
    if size > _MOST_LISTED:
        warnings.append(f"the pool is too large to be listed in candidates.jsonl; it is what {out / RUNS} holds")
    counts = {"systems": len(pooled), "pictures to judge": size}
    return StageResult("pool", (out,), counts, failures, tuple(warnings), seconds=seconds)
