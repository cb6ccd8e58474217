"""Train, dev and test without a picture, or a near-duplicate of one, in two of them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from math import isclose
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sightline.benchmark.copy_detection import looks_of, same_looks
from sightline.benchmark.folder import check_place, read_benchmark, write_benchmark_elsewhere
from sightline.calls.session import Session
from sightline.corpus.near_duplicates import connected
from sightline.display import Shown, html_table, quiet
from sightline.english import counted
from sightline.errors import UserError, require_at_least
from sightline.io.files import PathLike, as_path
from sightline.io.jsonl import read_json, write_json
from sightline.types import Answer, Benchmark, Choice, Group, Scope, Task, Truth
from sightline.types.truth import relevant_pictures

FILE = "split.json"
SHARES: Mapping[str, float] = {"train": 0.8, "dev": 0.1, "test": 0.1}
STRATA = ("subtask", "difficulty")
Strata: TypeAlias = "Counter[tuple[str, str]]"


@dataclass(frozen=True, slots=True, repr=False)
class SplitSummary(Shown):
    """What a split came to.

    `groups` are sets of tasks that share pictures and so stay together, `largest` is the size of the greatest; `near`
    counts pairs of near-duplicates that were kept together, `across` those between two parts: 0, counted after the
    split. `unread` are pictures whose look is not known: they are told apart by their id alone. `by_label` is how many
    tasks of each value each part has.
    """

    folder: Path
    parts: Mapping[str, int]
    groups: int
    largest: int
    near: int
    across: int
    pictures: int
    unread: int
    by_label: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints, and what `split.json` holds."""
        return {**asdict(self), "folder": str(self.folder)}

    def _line(self) -> str:
        return ", ".join(f"{part} {count:,}" for part, count in self.parts.items())

    def _blocks(self) -> Iterable[str]:
        rows = [("tasks", *(f"{count:,}" for count in self.parts.values()))]
        for label, values in self.by_label.items():
            rows += [
                (f"{label}: {value}", *(f"{counts[part]:,}" for part in self.parts)) for value, counts in values.items()
            ]
        yield html_table(("", *self.parts), rows, numeric=range(1, 1 + len(self.parts)))
        yield quiet(f"pictures in two parts: {self.across:,} of {self.pictures:,} · {self.folder}")

    def __str__(self) -> str:
        """The parts, what keeps tasks together, and the balance of the labels."""
        names = list(self.parts)
        lines = [
            f"  {self._line()}",
            f"  {counted(self.groups, 'group')} that share pictures or near-duplicates ({counted(self.near, 'pair')}), "
            f"the largest of {counted(self.largest, 'task')}",
            f"  pictures in two parts: {self.across:,} of {self.pictures:,}"
            + (f"; {self.unread:,} could not be read, and are told apart by their ids" if self.unread else ""),
        ]
        for label, values in self.by_label.items():
            width = max(map(len, (label, *values)))
            lines.append(f"  {label:<{width}}  " + "  ".join(f"{name:>6}" for name in names))
            for value, counts in values.items():
                cells = (f"{counts[name]:>{max(6, len(name))},}" for name in names)
                lines.append(f"  {value:<{width}}  " + "  ".join(cells))
        return "\n".join([*lines, f"  → {self.folder}"])


def split(
    benchmark: PathLike,
    out: PathLike,
    *,
    parts: Mapping[str, float] | str = SHARES,
    by: Sequence[str] | str | None = None,
    bits: int | None = None,
    seed: int | None = None,
    session: Session | None = None,
) -> SplitSummary:
    """Split a benchmark into parts that share no picture, nor a near-duplicate of one.

    Tasks that share a picture or have near-duplicates stay together. Groups go, the largest first, where they bring
    the parts nearest to their shares in every label of `by`. The same seed gives the same parts.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    out:
        A folder that gets one benchmark for each part, and split.json; a split into the same parts is replaced.
    parts:
        Names and shares, which sum to 1 or are whole numbers; as text "train=0.8,test=0.2".
    by:
        Labels that each part is to have in the same shares; subtask and difficulty, where tasks have them, when not
        given.
    bits:
        Hashes that differ in at most so many of 64 bits are near-duplicates if tones agree; as configured by default.
    seed:
        Makes the parts repeatable.
    session:
        Brings the settings; see `Session`.

    Returns
    -------
    SplitSummary
        The parts with their sizes and labels; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> done = sightline.split("questions", "parts", parts={"train": 0.75, "test": 0.25})
    >>> dict(done.parts), done.across
    ({'train': 3, 'test': 1}, 0)
    """
    started, session = time.monotonic(), Session.of(session)
    require_at_least(0, bits=bits, seed=seed)
    seed = (session.seed or 0) if seed is None else seed
    source, place = as_path(benchmark, "a benchmark"), as_path(out, "the folder to write")
    shares = _checked(_parsed(parts) if isinstance(parts, str) else parts)
    whole = read_benchmark(source)
    if not whole.tasks:
        raise UserError(f'the benchmark "{whole.name}" has no tasks.', "give one that has some")
    labels = _labels(whole.tasks, by)
    _check_place(place, whole, shares)
    own = {name: pictures_of(task, whole.truth.get(name)) for name, task in whole.tasks.items()}
    used = {picture for pictures in own.values() for picture in pictures}
    known = {name: picture for name, picture in whole.corpus.pictures.items() if name in used}
    looks = looks_of(known, source, session.config)
    near = same_looks(looks, session.config.duplicates.bits if bits is None else bits)
    links = [(pair.first, pair.second) for pair in near]
    links += [(group.pictures[0], other) for group in _bound(whole) for other in group.pictures[1:]]
    groups = _groups(own, links)
    homes = assign(groups, whole.tasks, shares, labels, seed)
    _refuse_empty(shares, homes, groups)
    settings = {"seed": seed, "shares": shares, "by": list(labels), "source": whole.name}
    _write(whole, source, place, homes, settings)
    summary = SplitSummary(
        folder=place,
        parts={part: sum(found == part for found in homes.values()) for part in shares},
        groups=len(groups),
        largest=max(map(len, groups)),
        near=len(near),
        across=_across(own, homes, links),
        pictures=len(used),
        unread=len(used) - len(looks),
        by_label=_table(whole.tasks, homes, labels, tuple(shares)),
        seconds=round(time.monotonic() - started, 2),
    )
    counts = {name: value for name, value in summary.to_json().items() if name not in ("folder", "seconds")}
    write_json(place / FILE, {**settings, **counts, "tasks": homes})
    return summary


def _write(
    benchmark: Benchmark, source: Path, out: Path, homes: Mapping[str, str], settings: Mapping[str, Any]
) -> None:
    """The benchmarks of the parts; until all of them are new, they are not those of one split."""
    shares = settings["shares"]
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / FILE, {**settings, "parts": dict.fromkeys(shares, 0), "unfinished": True})
        for part in shares:
            write_benchmark_elsewhere(_part(benchmark, part, homes), source, out / part)
    except OSError as error:  # A disk that is full does not name its file.
        raise UserError(f"{out} can't be written: {error.strerror}.", "make room, or choose another --out") from error


def pictures_of(task: Task, truth: Truth | None) -> frozenset[str]:
    """All pictures that a task shows, and those that its truth is about."""
    steps = truth.steps if isinstance(truth, Choice | Answer) else ()
    shown = (*task.shown, *(ref for step in steps for ref in step.pictures))
    return frozenset((*(ref.id for ref in shown), *relevant_pictures(truth)))


def assign(
    groups: Sequence[Sequence[str]],
    tasks: Mapping[str, Task],
    shares: Mapping[str, float],
    by: Sequence[str],
    seed: int,
) -> dict[str, str]:
    """The part of each task: groups go, the largest first, where most is missing of the labels that they bring."""
    strata = {name: _strata(tasks[name], by) for group in groups for name in group}
    total = Counter(stratum for each in strata.values() for stratum in each)
    filled: dict[str, Strata] = {part: Counter() for part in shares}
    parts: dict[str, str] = {}
    for group in sorted(groups, key=lambda group: (-len(group), _lot(seed, group))):
        brought = Counter(stratum for name in group for stratum in strata[name])
        needs = {part: _need(brought, filled[part], total, share) for part, share in shares.items()}
        chosen = max(shares, key=lambda part: (needs[part], shares[part]))
        filled[chosen] += brought
        parts |= dict.fromkeys(group, chosen)
    return {name: parts[name] for name in tasks if name in parts}


def _need(brought: Strata, filled: Strata, total: Strata, share: float) -> float:
    """How much of the share is missing, over what the group brings."""
    return sum(count * (share - filled[stratum] / total[stratum]) for stratum, count in brought.items())


def _strata(task: Task, by: Sequence[str]) -> list[tuple[str, str]]:
    """Labels by themselves and all together, so that each and their combination are balanced."""
    values = [(label, value) for label in by for value in task.labels.get(label, ("",))]
    return [("", ""), *values, ("+", "/".join(value for _, value in values))]


def _lot(seed: int, group: Iterable[str]) -> bytes:
    return blake2b(f"{seed}/{min(group)}".encode(), digest_size=8).digest()


def _bound(benchmark: Benchmark) -> Iterator[Group]:
    """What a scan found to be one picture, or one moment."""
    return (group for group in benchmark.corpus.groups if group.kind in ("duplicate", "burst") and group.pictures)


def _groups(own: Mapping[str, frozenset[str]], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Tasks that shared or linked pictures connect."""
    names = list(own)
    used = sorted({picture for pictures in own.values() for picture in pictures})
    at = {picture: place for place, picture in enumerate(used, len(names))}
    edges = [(place, at[picture]) for place, name in enumerate(names) for picture in own[name]]
    edges += [(at[one], at[other]) for one, other in links if one in at and other in at]
    if not edges:
        return [[name] for name in names]
    groups = connected(len(names) + len(used), np.array(edges, dtype=np.intp))
    joined = [[names[place] for place in group if place < len(names)] for group in groups]
    alone = set(names) - {name for group in joined for name in group}
    return [group for group in joined if group] + [[name] for name in names if name in alone]


def _across(own: Mapping[str, frozenset[str]], parts: Mapping[str, str], links: Iterable[tuple[str, str]]) -> int:
    """Pictures, and near-duplicates, that are in more than one part."""
    where: defaultdict[str, set[str]] = defaultdict(set)
    for task, pictures in own.items():
        for picture in pictures:
            where[picture].add(parts[task])
    shared = sum(len(found) > 1 for found in where.values())
    return shared + sum(len(where[one] | where[other]) > 1 for one, other in links if one in where and other in where)


def _part(benchmark: Benchmark, part: str, parts: Mapping[str, str]) -> Benchmark:
    """The tasks of a part, and the pictures that they show; a corpus that may be searched stays whole."""
    tasks = {name: task for name, task in benchmark.tasks.items() if parts[name] == part}
    truth = {name: benchmark.truth[name] for name in tasks if name in benchmark.truth}
    corpus = benchmark.corpus
    if all(task.kind in ("choose", "describe") and task.scope == Scope() for task in tasks.values()):
        used = {picture for name, task in tasks.items() for picture in pictures_of(task, truth.get(name))}
        pictures = {name: picture for name, picture in corpus.pictures.items() if name in used}
        groups = [replace(group, pictures=tuple(p for p in group.pictures if p in used)) for group in corpus.groups]
        corpus = replace(corpus, pictures=pictures, groups=tuple(group for group in groups if group.pictures))
    return replace(
        benchmark,
        name=f"{benchmark.name}-{part}",
        corpus=corpus,
        tasks=tasks,
        truth=truth,
        annotations=tuple(one for one in benchmark.annotations if one.picture_id in corpus.pictures),
        candidates=tuple(one for one in benchmark.candidates if one.task in tasks),
        judgments=tuple(one for one in benchmark.judgments if one.task in tasks),
        reviews=tuple(one for one in benchmark.reviews if one.task in tasks),
        checksum=None,
    )


def _table(
    tasks: Mapping[str, Task], parts: Mapping[str, str], by: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, dict[str, int]]]:
    """How many tasks of each value of each label each part has."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for label in by:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, task in tasks.items():
            for value in task.labels.get(label, ()):
                counts[value][parts[name]] += 1
        if counts:
            found[label] = {value: {part: counts[value][part] for part in names} for value in sorted(counts)}
    return found


def is_unfinished(out: Path) -> bool:
    """Does a folder hold a split that was stopped while its parts were written?"""
    found = read_json(out / FILE) if (out / FILE).is_file() else None
    return isinstance(found, dict) and found.get("unfinished") is True


def _checked(shares: Mapping[str, float]) -> dict[str, float]:
    """Shares that sum to 1; whole numbers are weights, such as 8, 1 and 1."""
    for part, share in shares.items():
        if share <= 0 or not part or "/" in part or part.startswith("."):
            raise UserError(f'"{part}" with a share of {share:g} is not a part.', "for example train=0.8, test=0.2")
    if len(shares) < 2:
        raise UserError("a split needs two parts or more.", "for example --parts train=0.8,dev=0.1,test=0.1")
    total = sum(shares.values())
    if not isclose(total, 1.0, abs_tol=0.005) and not all(float(share).is_integer() for share in shares.values()):
        raise UserError(f"the shares sum to {total:g}, not to 1.", "for example --parts train=0.8,dev=0.1,test=0.1")
    return {part: share / total for part, share in shares.items()}


def _parsed(text: str) -> dict[str, float]:
    """`train=0.8,test=0.2` → the shares."""
    found = {}
    for pair in text.split(","):
        name, _, share = pair.partition("=")
        try:
            found[name.strip()] = float(share)
        except ValueError:
            raise UserError(f'--parts "{pair}" is not of the form name=share.', "for example train=0.8") from None
    return found


def _labels(tasks: Mapping[str, Task], by: Sequence[str] | str | None) -> tuple[str, ...]:
    """The labels to balance; those that are asked for must be there."""
    by = [name.strip() for name in by.split(",") if name.strip()] if isinstance(by, str) else by
    known = sorted({label for task in tasks.values() for label in task.labels})
    unknown = next((label for label in by or () if label not in known), None)
    if unknown is not None:
        raise UserError(
            f'no task has a label "{unknown}".', f"choose from {', '.join(known) or 'none: there are none'}"
        )
    return tuple(STRATA if by is None else by)


def _refuse_empty(shares: Mapping[str, float], parts: Mapping[str, str], groups: Sequence[Sequence[str]]) -> None:
    """A part without a task would test nothing, and look as if it did."""
    empty = next((part for part in shares if part not in parts.values()), None)
    if empty is not None:
        largest = max(map(len, groups))
        raise UserError(
            f'"{empty}" would have no task: {counted(len(parts), "task")} in {counted(len(groups), "group")} that '
            f"share pictures, the largest of {counted(largest, 'task')}.",
            "give it a larger share, fewer parts, or a benchmark with more tasks",
        )


def _check_place(out: Path, benchmark: Benchmark, shares: Mapping[str, float]) -> None:
    """Refuse, before the work, a folder that holds other things, or a part that would stay and overlap with others."""
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not (out / FILE).is_file():
        raise UserError(
            f"{out} holds other things and no {FILE}; it is left as it is.", "choose a new or an empty folder"
        )
    before = read_json(out / FILE).get("parts", {})
    stale = [part for part in before if part not in shares and (out / part).exists()]
    if stale:
        raise UserError(
            f"{out} holds an earlier split, whose {', '.join(stale)} would stay and share pictures with the new parts.",
            "choose a new folder, or delete that one",
        )
    for part in shares:
        check_place(out / part, f"{benchmark.name}-{part}", benchmark.reviews, benchmark.tasks)
