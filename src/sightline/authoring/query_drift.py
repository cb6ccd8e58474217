"""Do today's queries still look like those of the benchmark?

Asked without an embedder, in words that can be shown: would a benchmark of the same size that is drawn today be as far
from today's log? The log is split at random, many times. From four fifths of it a benchmark is drawn by the rule of
`make`; the last fifth is what both benchmarks are held against, so that rare queries, which no two weeks share, are no
drift. (From smaller parts, draws would come out closer than a benchmark of a whole log does.) The distance of words is
the total variation

    D = ½ Σ over words |share of the word in the benchmark - share in the fifth|,

shares weighted by traffic. `drift` is the mean of D(benchmark) - D(drawn today), its interval are the 2.5 and 97.5 %
quantiles over the splits; `unknown` is the same of the share of words that a benchmark does not have. The p of each is
the share of splits in which the one that is drawn today does as badly; of the two, twice the smaller counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.query_sample import QueryLog, Traffic, inclusion, read_traffic, strata_of, systematic
from sightline.authoring.query_text import query_key
from sightline.benchmark.folder import read_benchmark
from sightline.display import Table
from sightline.errors import UserError
from sightline.io.files import PathLike, as_path
from sightline.plain_text import text_table
from sightline.types import Benchmark

DRAWS = 199
_DRAWN_FROM = 0.8
_WORDS = 10
_SURE = 0.95
"""A word is new, or gone, where a draw would hold it with this probability, or a benchmark without drift would."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word with its share of traffic in the benchmark and in the log; `change` is `new` or `gone`."""

    word: str
    change: str
    benchmark: float
    log: float


class Spread(NamedTuple):
    """A mean with the 95 % range around it."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Spread:
        return cls(float(values.mean()), *map(float, np.quantile(values, [0.025, 0.975])))


@dataclass(frozen=True, slots=True, repr=False)
class Drift(Table[WordShare]):
    """What changed between the benchmark's queries and a log; its rows are words that came or went.

    `covered` is the share of the log's traffic whose query is in the benchmark, `covered_today` of one drawn today;
    `vanished` is the share of the benchmark's weight that nobody asks for in the log. `drift` and `unknown` say how far
    its words are from the log, and how many of the log's words it lacks, beyond what one drawn today does.
    """

    benchmark: str
    log: str
    searches: float
    tasks: int
    covered: float
    covered_today: Spread
    vanished: float
    drift: Spread
    unknown: Spread
    p: float
    words: tuple[WordShare, ...]

    @property
    def drifted(self) -> bool:
        """Whether a benchmark that is drawn today would hardly ever be so far from the log."""
        return self.p < 1 - _SURE

    def to_json(self) -> dict[str, Any]:
        """What `drift --json` prints."""
        spreads = {name: getattr(self, name)._asdict() for name in ("covered_today", "drift", "unknown")}
        return asdict(self) | spreads | {"drifted": self.drifted}

    def __str__(self) -> str:
        head = ("word", "", "in the benchmark", "in the log")
        rows = [(word.word, word.change, f"{word.benchmark:.2%}", f"{word.log:.2%}") for word in self.words]
        return "\n".join([*(f"  {line}" for line in self._lines()), *([text_table(head, rows)] if rows else [])])

    def _rows(self) -> Sequence[WordShare]:
        return self.words

    def _line(self) -> str:
        return f"{self.log} against {self.benchmark}: {self.searches:,.0f} searches, {self.tasks:,} tasks"

    def _lines(self) -> Iterable[str]:
        yield self._line()
        today, found = self.covered_today, self.drift
        yield (
            f"covered: {self.covered:.1%} of the traffic; by a benchmark drawn today: {today.mean:.1%} "
            f"[{today.low:.1%}, {today.high:.1%}]"
        )
        yield f"vanished: {self.vanished:.1%} of the benchmark's weight is not asked for in the log"
        new = self.unknown
        yield f"words that the benchmark lacks: {new.mean:+.1%} [{new.low:+.1%}, {new.high:+.1%}] of today's"
        few = "too few searches to say" if self.searches < self.tasks else "no change beyond chance"
        verdict = "the queries have changed" if self.drifted else few
        yield f"drift of words: {found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p = {self.p:.3f}: {verdict}"


def drift(benchmark: PathLike | Benchmark, log: PathLike | QueryLog, *, seed: int = 0, draws: int = DRAWS) -> Drift:
    """Say whether the queries of a log still look like those of a benchmark.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark, or the benchmark.
    log:
        A file of queries, as `make` takes it; a `QueryLog` says how it is read.
    seed:
        Makes the draws repeatable.
    draws:
        How many benchmarks are drawn from the log to compare with.

    Returns
    -------
    Drift
        How much of the traffic is covered, the drift with its interval and p, and words that came or went.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("today.txt").write_text("a volcano at night\\na red car\\n")
    >>> sightline.drift("bench", "today.txt").searches
    2.0
    """
    made = benchmark if isinstance(benchmark, Benchmark) else read_benchmark(as_path(benchmark, "a benchmark"))
    asked = log if isinstance(log, QueryLog) else QueryLog(log)
    weights = _weights(made)
    traffic = read_traffic(asked)
    words = _Words((*traffic.keys, *(key for key in weights if key not in traffic.keys)))
    place = {key: number for number, key in enumerate(words.keys)}
    now, then = np.zeros(len(place)), np.zeros(len(place))
    now[: len(traffic.counts)] = traffic.counts / traffic.counts.sum()
    then[[place[key] for key in weights]] = list(weights.values())
    then /= then.sum()
    splits = _splits(traffic, then, words, len(weights), np.random.default_rng(seed), draws)
    return Drift(
        benchmark=made.name,
        log=Path(asked.file).name,
        searches=float(traffic.counts.sum()),
        tasks=len(weights),
        covered=float(now[then > 0].sum()),
        covered_today=Spread.of(splits[:, 0]),
        vanished=float(then[now == 0].sum()),
        drift=Spread.of(splits[:, 1]),
        unknown=Spread.of(splits[:, 2]),
        p=float(min(1, 2 * (1 + (splits[:, 1:] <= 0).sum(axis=0).min()) / (1 + draws))),
        words=_changed(words, words.shares(then), words.shares(now), len(weights)),
    )


def _weights(benchmark: Benchmark) -> dict[str, float]:
    found: dict[str, float] = {}
    for task in benchmark.tasks.values():
        pictures = "".join(f"\0{one.id}" for one in task.pictures[:1])
        key = (query_key(task.text) if task.text else "") + pictures
        found[key] = found.get(key, 0.0) + task.weight
    if not found:
        raise UserError(f'The benchmark "{benchmark.name}" has no tasks.', "Give one that has some.")
    return found


class _Words:
    """The words of queries as one long list of numbers, so that shares of words are two additions."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        names: dict[str, int] = {}
        lists = [[names.setdefault(word, len(names)) for word in key.partition("\0")[0].split()] for key in keys]
        self.names = list(names)
        self._query = np.repeat(np.arange(len(lists)), [len(words) for words in lists])
        self._word = np.array([word for words in lists for word in words], np.intp)

    def shares(self, weights: Floats) -> Floats:
        """The share of each word among all words, queries counting by their weights."""
        sums = np.bincount(self._word, weights[self._query], minlength=len(self.names))
        return sums / max(float(sums.sum()), 1e-300)


def _splits(traffic: Traffic, then: Floats, words: _Words, size: int, rng: np.random.Generator, draws: int) -> Floats:
    """By split: what a benchmark drawn today covers, how much farther the given one is, how much more it lacks."""
    counts = np.maximum(np.rint(traffic.counts), 1).astype(np.int64)
    found, own = np.zeros((draws, 3)), words.shares(then)
    for number in range(draws):
        part = np.zeros(len(then))
        part[: len(counts)] = rng.binomial(counts, _DRAWN_FROM)
        other = np.concatenate([counts, np.zeros(len(then) - len(counts))]) - part
        drawn = _drawn(part, size, rng)
        target, today = words.shares(other), words.shares(drawn)
        missing = 1 - today.sum()  # Nothing drawn is as far as can be.
        farther = (np.abs(own - target).sum() - np.abs(today - target).sum() - missing) / 2
        lacks = target[own == 0].sum() - target[today == 0].sum()
        found[number] = other[drawn > 0].sum() / max(float(other.sum()), 1.0), farther, lacks
    return found


def _drawn(counts: Floats, size: int, rng: np.random.Generator) -> Floats:
    """The weights of a benchmark that is drawn as `make` draws it; 0 for queries that are not in it."""
    there = np.flatnonzero(counts)
    part = counts[there]
    strata = strata_of(part)
    chances = inclusion(part, strata, size)
    chosen = systematic(chances, strata, rng)
    weights = np.zeros(len(counts))
    weights[there[chosen]] = part[chosen] / chances[chosen]
    return weights


def _changed(words: _Words, then: Floats, now: Floats, tasks: int) -> tuple[WordShare, ...]:
    """Words that only one side has, and that the other would have missed by chance in one of twenty cases at most."""
    enough = 1 - (1 - _SURE) ** (1 / tasks)

    def side(change: str, here: Floats, there: Floats) -> list[WordShare]:
        found = np.flatnonzero((here == 0) & (there >= enough))
        best = found[np.argsort(-there[found], kind="stable")][:_WORDS]
        return [WordShare(words.names[at], change, float(then[at]), float(now[at])) for at in best.tolist()]

    return (*side("new", then, now), *side("gone", now, then))
