"""From a log to the queries of a benchmark: near-duplicates merged, personal data masked, a sample by frequency.

Queries are drawn by how often they are asked, within three strata of a third of the traffic each: `head` (asked most),
`torso` and `tail`. A query that is asked c times is drawn with probability π = min(1, n c / C) (n of its stratum's
queries, which are asked C times in all), and weighs c / π: the weighted mean of a score is then that of the traffic,
without bias, however few of the rare queries were drawn.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.query_clicks import Clicks, WeakLabel
from sightline.authoring.query_log import LogRow, read_log
from sightline.authoring.query_text import UNKNOWN, Policy, clean, language_of, masked, query_key
from sightline.errors import UserError, require_at_least, require_one_of
from sightline.io.files import PathLike, as_path

STRATA = ("head", "torso", "tail")
SAMPLE = 1000
_OPEN_SESSIONS = 100_000
_LONGEST = 1_000
_FEWEST_BY_STRATA = 9
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryLog:
    """A file of queries, and what is taken of it.

    Examples
    --------
    >>> log = QueryLog("access.log", pattern="q", sample=500, personal_data="drop")
    >>> log.sample
    500
    """

    file: PathLike
    "A list (`.txt`), a table (`.csv`, `.jsonl`) or a log; `authoring.query_log` says what is read."
    pattern: str | None = None
    "Where a line of a log has its query: the name of a parameter of the address, or a regular expression."
    sample: int | None = SAMPLE
    "How many queries to draw; None for all."
    personal_data: Policy = "mask"
    "Replace personal data by its kind (`mask`), leave such queries out (`drop`), or keep them as they are (`keep`)."

    def __post_init__(self) -> None:
        require_at_least(1, sample=self.sample)
        require_one_of(("mask", "drop", "keep"), personal_data=self.personal_data)


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query, how often it was asked, and how much traffic it stands for; its near-duplicates are counted with it."""

    id: str
    text: str
    picture: str | None
    count: float
    weight: float = 1.0
    stratum: str | None = None
    language: str = "und"


@dataclass(frozen=True, slots=True)
class QuerySample:
    """The queries that were drawn, the most frequent first; what people clicked for them; what became of the log."""

    queries: tuple[LoggedQuery, ...]
    report: Mapping[str, Any]
    clicks: Mapping[str, list[WeakLabel]] = field(default_factory=dict)


def read_traffic(log: QueryLog) -> Traffic:
    """Read a log, whatever its length: what is held of it grows with the number of different queries only."""
    path, problems, found = as_path(log.file, "a file of queries"), Counter[str](), Traffic(log.personal_data)
    for row in read_log(path, log.pattern, problems):
        found.add(row)
    if not found.keys:
        none = "no line has one" if path.stat().st_size else "the file is empty"
        listed = ", ".join(f"{count:,} {what}" for what, count in problems.items()) or none
        raise UserError(f"{path} has no query ({listed}).", "Give a file with a query on each line, or a log of them.")
    found.close({"file": path.name, "problems": dict(problems)})
    return found


def sample_queries(log: QueryLog, seed: int = 0) -> QuerySample:
    """Read a log and draw from it; what was left out, merged and masked is in `report`."""
    traffic = read_traffic(log)
    strata = strata_of(traffic.counts)
    chances = inclusion(traffic.counts, strata, log.sample)
    chosen = np.flatnonzero(systematic(chances, strata, np.random.default_rng(seed)))
    chosen = chosen[np.argsort(-traffic.counts[chosen], kind="stable")]
    drawn = [traffic.query(at, chances[at], None if strata is None else STRATA[strata[at]]) for at in chosen.tolist()]
    named = dict(zip(chosen.tolist(), (query.id for query in drawn), strict=True))
    labels = traffic.clicks.labels({number: float(traffic.counts[number]) for number in named}, named)
    report = {
        **traffic.report,
        "languages": _shares((query.language, query.weight) for query in drawn),
        "strata": {} if strata is None else _strata(traffic.counts, strata, chosen),
        "drawn": len(drawn),
        "seed": seed,
        **({"clicks": traffic.clicks.report()} if labels else {}),
    }
    return QuerySample(tuple(drawn), report, labels)


class Traffic:
    """The queries of a log, near-duplicates as one, in the form that is written most often.

    Held are the queries as they were written, with their counts, and no lines: `add` takes these one at a time, and
    `close` ends it. `keys` are the queries' keys, in order, and `counts` how often each was asked.
    """

    def __init__(self, policy: Policy) -> None:
        self.keys: dict[str, int] = {}
        self.clicks = Clicks()
        self._policy: Policy = policy
        self._forms: dict[str, int] = {}
        self._numbers, self._form_counts = array("q"), array("d")
        "By form the number of its query, -1 where it was dropped; and its searches."
        self._masked: dict[int, str] = {}
        self._lines, self._ids = array("q"), dict[int, str]()
        self._kinds: Counter[str] = Counter()
        self._sessions: OrderedDict[str, int] = OrderedDict()
        self._repeated = 0.0
        self._times: tuple[str, str] | None = None

    def add(self, row: LogRow) -> None:
        """Count a search; the same query again in one session, as when a page is turned, counts once."""
        text = clean(row.query[:_LONGEST])
        form = text if row.picture is None else f"{text}\0{row.picture}"
        place = self._forms.setdefault(form, len(self._forms))
        if place == len(self._numbers):
            self._enter(place, form, row)
        number = self._numbers[place]
        if row.time is not None:
            first, last = self._times or (row.time, row.time)
            self._times = min(first, row.time), max(last, row.time)
        if number >= 0:
            self.clicks.add(number, row)
            if row.id is not None:
                self._ids.setdefault(number, row.id)
        if row.session is not None and self._is_again(row.session, place):
            self._repeated += row.count
        else:
            self._form_counts[place] += row.count

    def _enter(self, place: int, form: str, row: LogRow) -> None:
        """A form that was not seen before: mask it, and find the query that it is a form of."""
        words, bar, picture = form.partition("\0")
        said, found = (words, ()) if self._policy == "keep" else masked(words)
        self._kinds.update(found)
        number = -1
        if not found or (self._policy != "drop" and said != f"[{found[0]}]"):
            key = f"{query_key(said)}{bar}{picture}"
            number = self.keys.setdefault(form if key == form else key, len(self.keys))  # One object for both.
            if number == len(self._lines):
                self._lines.append(row.line)
            if found:
                self._masked[place] = f"{said}{bar}{picture}"
        self._numbers.append(number)
        self._form_counts.append(0.0)

    def _is_again(self, session: str, place: int) -> bool:
        again = self._sessions.get(session) == place
        self._sessions[session] = place
        self._sessions.move_to_end(session)
        if len(self._sessions) > _OPEN_SESSIONS:
            self._sessions.popitem(last=False)
        return again

    def close(self, report: Mapping[str, Any]) -> None:
        """Join the forms of each query; the one with most searches, of equals the first, is its text."""
        numbers, counts = np.array(self._numbers, np.intp), np.array(self._form_counts)
        kept = np.flatnonzero(numbers >= 0)
        self.counts: Floats = np.bincount(numbers[kept], counts[kept], minlength=len(self.keys)).astype(np.float64)
        order = kept[np.lexsort((-kept, counts[kept]))]
        most = np.zeros(len(self.keys), np.intp)
        most[numbers[order]] = order  # The last one stays.
        self._texts, self._most = list(self._forms), most.tolist()
        first, last = self._times or (None, None)
        dropped = len(numbers) - len(kept)
        self.report = {
            **report,
            "searches": float(counts.sum()),
            "repeated_in_session": self._repeated,
            "first": first,
            "last": last,
            "forms": len(numbers),
            "merged": len(kept) - len(self.keys),
            "personal_data": {"policy": self._policy, "found": dict(self._kinds), "dropped": dropped},
        }

    def query(self, number: int, chance: float = 1.0, stratum: str | None = None) -> LoggedQuery:
        """One of them; it is called by its id, else by its first line."""
        most, count = self._most[number], float(self.counts[number])
        text, _, picture = self._masked.get(most, self._texts[most]).partition("\0")
        id_ = self._ids.get(number, str(self._lines[number]))
        language = language_of(text) if text else UNKNOWN
        return LoggedQuery(id_, text, picture or None, count, count / float(chance), stratum, language)


def strata_of(counts: Floats) -> NDArray[np.intp] | None:
    """The stratum of each query, by the share of traffic of those that are asked more; None where all are alike."""
    if not len(counts) or counts.min() == counts.max():
        return None
    order = np.argsort(-counts, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(counts[order])[:-1]]) / counts.sum()
    fresh = np.concatenate([[True], np.diff(counts[order]) != 0])  # Equal counts share a stratum.
    above = before[np.maximum.accumulate(np.where(fresh, np.arange(len(counts)), 0))]
    found = np.empty(len(counts), np.intp)
    found[order] = np.minimum((above * len(STRATA)).astype(np.intp), len(STRATA) - 1)
    return found


def inclusion(counts: Floats, strata: NDArray[np.intp] | None, sample: int | None) -> Floats:
    """The chance of each query to be drawn: proportional to its count within its stratum, 1 where that is above 1.

    Strata get equal parts of the sample; what one is too small for goes to the others.
    """
    chances = np.ones(len(counts))
    if sample is None or sample >= len(counts):
        return chances
    groups = [np.arange(len(counts))]
    if strata is not None and sample >= _FEWEST_BY_STRATA:
        groups = [members for at in range(len(STRATA)) if len(members := np.flatnonzero(strata == at))]
    left = sample
    for waiting, members in enumerate(sorted(groups, key=len)):
        part = min(len(members), left // (len(groups) - waiting))
        chances[members] = _proportional(counts[members], part)
        left -= part
    return chances


def _proportional(counts: Floats, number: int) -> Floats:
    """Chances that add up to `number`, proportional to counts, none above 1."""
    chances, sure = np.ones(len(counts)), np.zeros(len(counts), np.bool_)
    while number < len(counts):
        rest = number - int(sure.sum())
        chances = np.where(sure, 1.0, rest * counts / max(float(counts[~sure].sum()), 1e-300))
        above = (chances >= 1) & ~sure
        if not above.any():
            break
        sure |= above
    return np.minimum(chances, 1.0)


def systematic(chances: Floats, strata: NDArray[np.intp] | None, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A draw with exactly these chances and fixed sizes: each whole step of their sum, by stratum, in random order."""
    order = np.lexsort((rng.random(len(chances)), np.zeros(len(chances)) if strata is None else strata))
    steps = np.floor(np.concatenate([[0.0], np.cumsum(chances[order])]) + rng.random())
    chosen: NDArray[np.bool_] = chances >= 1
    chosen[order] |= np.diff(steps) > 0
    return chosen


def _strata(counts: Floats, strata: NDArray[np.intp], chosen: NDArray[np.intp]) -> dict[str, Any]:
    """By stratum: queries and searches in the log, and queries drawn."""
    queries, searches = np.bincount(strata, minlength=3), np.bincount(strata, counts, minlength=3)
    drawn = np.bincount(strata[chosen], minlength=3)
    return {
        name: {"queries": int(queries[at]), "searches": float(searches[at]), "drawn": int(drawn[at])}
        for at, name in enumerate(STRATA)
    }


def _shares(weighted: Iterator[tuple[str, float]]) -> dict[str, float]:
    """Shares of traffic, the largest first."""
    sums: dict[str, float] = {}
    for name, weight in weighted:
        sums[name] = sums.get(name, 0.0) + weight
    total = sum(sums.values())
    return {name: round(value / total, 4) for name, value in sorted(sums.items(), key=lambda item: -item[1])}
