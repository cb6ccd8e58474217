"""Clicks as weak labels: how attractive a result is, freed of the place at which it was shown. Never truth.

People click what stands on top. The position-based model takes a click for two things at once: the result at place k is
looked at, with probability θ_k, and found attractive, with probability γ:

    P(click | query, picture, place k) = θ_k · γ(query, picture)

Where the log says what was shown, θ is fitted by expectation maximization (θ_1 = 1) and γ is the number of clicks over
Σ θ_k of all places at which the picture was shown. Where the log only says what was clicked, θ_k = 1 / k is assumed and
γ is the sum of 1 / θ_k over the clicks, divided by the searches of the query. Both are at most 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.query_log import LogRow

PROVENANCE = "clicks"
_ROUNDS = 200
_CLOSE = 1e-6
Floats = NDArray[np.float64]


class WeakLabel(NamedTuple):
    """A picture that people clicked for a query; `attraction` is γ, between 0 and 1."""

    picture: str
    clicks: float
    attraction: float


class Clicks:
    """Counts of clicks, and of what was shown where, by query and picture."""

    def __init__(self) -> None:
        self.without_place = 0.0
        self._clicks: defaultdict[tuple[int, str, int], float] = defaultdict(float)
        self._shown: defaultdict[tuple[int, str, int], float] = defaultdict(float)

    def __bool__(self) -> bool:
        return bool(self._clicks)

    def add(self, query: int, row: LogRow) -> None:
        """Take in one search; a click whose place is not known, or is not on the list, counts as on top."""
        place = {picture: at for at, picture in enumerate(row.shown, 1)}
        for picture, at in place.items():
            self._shown[query, picture, at] += row.count
        for number, picture in enumerate(row.clicked):
            at = place.get(picture) or (row.positions[number] if row.positions else 0)
            self.without_place += 0 if at else row.count
            self._clicks[query, picture, at or 1] += row.count

    def labels(self, searches: Mapping[int, float], named: Mapping[int, str]) -> dict[str, list[WeakLabel]]:
        """By task (`named` by query) the clicked pictures, the most attractive first."""
        looked = self.looked_at()
        sums: defaultdict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros(3))  # Clicks, Σ 1/θ, Σ θ shown.
        for (query, picture, at), clicks in self._clicks.items():
            if query in named:
                theta = looked[min(at, len(looked)) - 1]
                sums[named[query], picture] += clicks, clicks / theta / max(searches[query], 1.0), 0
        for (query, picture, at), shown in self._shown.items():
            if (pair := (named.get(query, ""), picture)) in sums:
                sums[pair] += 0, 0, shown * looked[at - 1]
        found: dict[str, list[WeakLabel]] = {}
        for (task, picture), (clicks, rate, seen) in sums.items():
            label = WeakLabel(picture, float(clicks), float(min(1.0, clicks / seen if seen else rate)))
            found.setdefault(task, []).append(label)
        return {task: sorted(of, key=lambda one: (-one.attraction, one.picture)) for task, of in found.items()}

    def looked_at(self) -> Floats:
        """θ by place, that of the first being 1: fitted, or 1 / k where nothing says what was shown."""
        if not self._shown:
            return 1 / np.arange(1.0, max((at for _, _, at in self._clicks), default=1) + 1)
        rows = list(self._shown)
        pairs = {pair: number for number, pair in enumerate(dict.fromkeys(row[:2] for row in rows))}
        pair, at = np.array([pairs[row[:2]] for row in rows]), np.array([row[2] - 1 for row in rows])
        shown = np.array(list(self._shown.values()))
        return _fitted(pair, at, shown, np.minimum(shown, [self._clicks.get(row, 0.0) for row in rows]))

    def report(self) -> dict[str, Any]:
        """How places were corrected."""
        looked = [round(float(share), 4) for share in self.looked_at()[:20]]
        return {"without_place": self.without_place, "looked_at": looked, "fitted": bool(self._shown)}


def _fitted(pair: NDArray[np.intp], at: NDArray[np.intp], shown: Floats, clicks: Floats) -> Floats:
    """θ of the position-based model by expectation maximization over rows of (pair, place, shown, clicks)."""
    looked, attractive = 1 / np.arange(1.0, at.max() + 2), np.full(pair.max() + 1, 0.5)
    by_place, by_pair = np.bincount(at, shown), np.bincount(pair, shown)
    for _ in range(_ROUNDS):
        theta, gamma, left = looked[at], attractive[pair], shown - clicks
        neither = np.maximum(1 - theta * gamma, _CLOSE)
        after = np.bincount(at, clicks + left * theta * (1 - gamma) / neither) / np.maximum(by_place, _CLOSE)
        attractive = np.bincount(pair, clicks + left * gamma * (1 - theta) / neither) / by_pair
        after = np.clip(after, 1e-3, 1.0)
        after[0] = 1.0  # Only products are seen in a log: the first place sets the scale.
        if np.abs(after - looked).max() < _CLOSE:
            break
        looked = after
    return looked
