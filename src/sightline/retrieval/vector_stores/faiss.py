"""An approximate index (faiss, IVF with bytes) over the exact one, for a million vectors and more.

The vectors lie as in the exact store, which answers what is limited to few rows by `within`, looks at what is new, and
gives the true scores of what the approximate index found. Among many rows the lists are asked for more, and what is not
among these rows is dropped; the fewer are left, the more lists are probed. How many are probed without a limit is
chosen when the index is built: the fewest at which the share of true neighbours found surely reaches `recall`, for a
sample of the vectors themselves and for each kind of query that it was told to `expect`. Pictures find each other in
few lists; a text lies apart from all pictures, and its neighbours in many. So each kind of query is tried by itself,
and the worst of them decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError, needs_extra
from sightline.io.checksums import is_damaged, sums_of
from sightline.io.jsonl import read_json, write_json
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import (
    NOTHING,
    BackendKind,
    Nearest,
    Queries,
    RankedRows,
    Rows,
    as_rows,
    checked_queries,
    joined,
)
from sightline.retrieval.vector_stores.exact import ExactIndex
from sightline.retrieval.vector_stores.scan import Places, merged, nearest_slots

NEIGHBOURS = 10
SAMPLE = 512
"""Queries of a kind that are enough to try."""
OWN = "pictures"
"""Vectors of the index itself, as queries."""

Probe: TypeAlias = Callable[[NDArray[np.float32], int], Rows]
"""The rows that an index gives to a query, so many."""
LARGE = 100_000
"""Vectors from which on an approximate index is built; below, every vector is compared."""
RECALL = 0.97
"""To be reached by the mean over a sample less two standard errors, so that 0.95 holds for other queries."""
_PAGE = 65_536
_TRAINED = 40
"""Vectors for each list that the lists are learnt from."""
_WIDER = 4
"""Candidates for each neighbour asked for: bytes order them only nearly."""


class MeanRecall(NamedTuple):
    """A mean over queries and its standard error: some texts find all of their neighbours, and some none."""

    mean: float
    error: float

    def surely_reaches(self, wanted: float) -> bool:
        """Does the mean, less two standard errors, still reach it?"""
        return self.mean - 2 * self.error >= wanted


class Trial(NamedTuple):
    """Queries of one kind and their true neighbours; `own` ones find themselves, which proves nothing."""

    kind: str
    queries: Vectors
    truth: Sequence[frozenset[int]]
    own: bool = False

    def tried(self, ask: Probe) -> MeanRecall:
        """Of the true neighbours of each query, how many are found."""
        shares = [
            max(0, len(true.intersection(ask(query, NEIGHBOURS + self.own).tolist())) - self.own)
            / max(1, len(true) - self.own)
            for query, true in zip(self.queries, self.truth, strict=True)
        ]
        return MeanRecall(float(np.mean(shares)), float(np.std(shares)) / len(shares) ** 0.5)


class Probed(NamedTuple):
    """How many lists are probed, and the share of true neighbours that each kind of query then finds."""

    lists: int
    recalls: dict[str, float]


def fewest_lists(trials: Sequence[Trial], ask: Callable[[int], Probe], wanted: float, most: int) -> Probed:
    """The fewest lists at which every kind surely reaches `wanted`, half as many more each time; at most all."""
    lists, means = 1, dict.fromkeys((trial.kind for trial in trials), 1.0)
    while True:
        asking = ask(lists)
        for trial in sorted(trials, key=lambda each: means[each.kind]):  # Where the hardest fails, it is enough.
            share = trial.tried(asking)
            means[trial.kind] = share.mean
            if not share.surely_reaches(wanted) and lists < most:
                break
        else:
            return Probed(lists, means)
        lists = min(most, lists + max(1, lists // 2))


@dataclass(frozen=True, slots=True)
class IvfState:
    """What an approximate index was built of, how it is asked, and the recall@10 that each kind of query then has."""

    generation: int
    trained: int
    slots: int
    nlist: int
    nprobe: int
    recalls: Mapping[str, float]
    sums: tuple[int, ...] = ()


class ApproximateIndex(ExactIndex):
    """Exact vectors with an IVF index above them; `built` is how it answers, None while answers are exact."""

    def __init__(
        self,
        folder: Path,
        dim: int,
        *,
        create: bool,
        nlist: int | None = None,
        nprobe: int | None = None,
        recall: float = RECALL,
        least: int = LARGE,
    ) -> None:
        with needs_extra('the back-end "faiss"', "ann"):
            import faiss
        if not 0 < recall <= 1:
            raise UserError(f"recall={recall} is not a share.", "give a number above 0, at most 1")
        self._faiss, self._folder = faiss, folder
        self._nlist, self._nprobe, self._wanted, self._least = nlist, nprobe, recall, least
        super().__init__(folder, dim, create=create)
        self._expected: Queries = dict
        self._index: Any = None
        self._built: IvfState | None = None
        self._open(whole=create)

    @property
    def name(self) -> str:
        return "faiss"

    @property
    def exact(self) -> bool:
        return self._index is None

    @property
    def built(self) -> IvfState | None:
        """The approximate index that answers, if there is one."""
        return self._built if self._index is not None else None

    @property
    def recalls(self) -> Mapping[str, float]:
        """By kind of query, the recall@10 that was measured when it was built; empty while answers are exact."""
        built = self.built
        return {} if built is None else built.recalls

    def expect(self, queries: Queries) -> None:
        """Kinds of queries that will be asked beside the vectors themselves: tried when it is built."""
        self._expected = queries

    def close(self) -> None:
        self._index = None
        super().close()

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest:
        """About the k nearest for each query, of all or of the rows `within`; exactly those where these are few."""
        self.slots.refresh()
        limit = None if within is None else as_rows(within)
        few = limit is not None and len(limit) < self._least
        if few or self._index is None or self._stale():
            return super().nearest(queries, k, limit)
        best = [self._near(query, k, limit) for query in checked_queries(queries, self.dim, k)]
        return Nearest([each.rows for each in best], [each.scores for each in best])

    def flush(self) -> None:
        """Take what is new into the approximate index; build it when there is none, or when it has outgrown itself."""
        super().flush()
        slots, built = self.slots, self._built
        if len(slots) < self._least:
            self._index = self._built = None
        elif self._index is None or built is None or self._stale() or slots.used > 2 * built.trained:
            self._build()
        elif slots.used > built.slots:
            self._index = self._faiss.read_index(str(self._lists(built)))  # What is mapped can't be added to.
            self._add(built.slots)
            self._keep(replace(built, slots=slots.used))

    # --- answers ----------------------------------------------------------------------------------------------

    def _near(self, query: NDArray[np.float32], k: int, within: Rows | None = None) -> RankedRows:
        assert self._built is not None
        slots = self.slots
        # Picked by their rows afterwards: for faiss to look up each vector takes longer than its product.
        times = 1.0 if within is None else max(1.0, len(slots) / len(within))
        asked, lists = math.ceil(_WIDER * k * times), math.ceil(self._index.nprobe * math.sqrt(times))
        while True:
            found = self._probed(query, asked, lists)
            best = merged(slots, query, k, NOTHING, self._among(found, within))
            # Removed and replaced ones are still in the lists, and take up room among the candidates.
            if len(best.rows) == k:
                break
            if len(found) < asked:  # The probed lists hold no more: so many are asked for that all must be looked at.
                places = None if within is None else self.places(within)
                return nearest_slots(slots, query[None], k, places)[0]
            asked *= 4
        new = self._among(np.arange(self._built.slots, slots.used), within)
        return joined(best, nearest_slots(slots, query[None], k, new)[0], k) if len(new) else best

    def _among(self, places: Places, within: Rows | None) -> Places:
        """Those whose rows are asked for."""
        if within is None or not len(places):
            return places
        rows = self.slots.row_of[places]
        chosen: Places = places[within[np.minimum(np.searchsorted(within, rows), len(within) - 1)] == rows]
        return chosen

    def _probed(self, query: NDArray[np.float32], n: int, lists: int) -> Places:
        parameters: Any = self._faiss.SearchParametersIVF
        _, found = self._index.search(query[None], n, params=parameters(nprobe=lists))
        chosen: Places = np.sort(found[0][found[0] >= 0])
        return chosen

    def _stale(self) -> bool:
        return self._built is None or self._built.generation != self.slots.generation

    # --- building ---------------------------------------------------------------------------------------------

    def _build(self) -> None:
        faiss, slots = self._faiss, self.slots
        nlist = self._nlist or 2 ** max(4, round(math.log2(slots.used) / 2) + 1)  # About twice the root.
        living = np.flatnonzero(slots.row_of[: slots.used] >= 0)
        some = np.random.default_rng(0).permutation(living)[: _TRAINED * nlist]
        self._index = faiss.index_factory(self.dim, f"IVF{nlist},SQ8", faiss.METRIC_INNER_PRODUCT)
        faiss.extract_index_ivf(self._index).cp.min_points_per_centroid = 1  # Fewer are no reason to warn.
        self._index.train(slots.vectors[np.sort(some)])
        self._add(0)
        self._built = IvfState(slots.generation, slots.used, slots.used, nlist, 1, {})
        trials = [self._trial(OWN, slots.vectors[np.sort(some[:SAMPLE])], own=True)]
        trials += [self._trial(kind, queries) for kind, queries in self._expected().items() if len(queries)]
        if self._nprobe:
            nprobe, recalls = (
                self._nprobe,
                {trial.kind: trial.tried(self._probing(self._nprobe)).mean for trial in trials},
            )
        else:
            nprobe, recalls = fewest_lists(trials, self._probing, self._wanted, nlist)
        self._index.nprobe = nprobe
        self._keep(replace(self._built, nprobe=nprobe, recalls=recalls))

    def _add(self, first: int) -> None:
        slots = self.slots
        for at in range(first, slots.used, _PAGE):
            self._index.add(slots.vectors[at : min(slots.used, at + _PAGE)])

    def _trial(self, kind: str, queries: Vectors, *, own: bool = False) -> Trial:
        true = nearest_slots(self.slots, queries, NEIGHBOURS + own)
        return Trial(kind, queries, [frozenset(best.rows.tolist()) for best in true], own)

    def _probing(self, lists: int) -> Probe:
        self._index.nprobe = lists
        return lambda query, k: self._near(query, k).rows

    # --- on disk ----------------------------------------------------------------------------------------------

    def _keep(self, built: IvfState) -> None:
        """The lists first, under a name of their own; then the note that names them."""
        path = self._lists(built)
        temporary = path.with_suffix(".part")
        self._faiss.write_index(self._index, str(temporary))
        self._built = built = replace(built, sums=tuple(sums_of(temporary)))
        temporary.replace(path)
        write_json(self._folder / "ivf.json", asdict(built))
        self._map(built)
        for old in self._folder.glob("ivf-*.faiss"):
            if old != path:
                old.unlink(missing_ok=True)

    def _open(self, *, whole: bool) -> None:
        note = self._folder / "ivf.json"
        if not note.is_file() or len(self) < self._least:
            return
        try:
            read = read_json(note)
            built = IvfState(**{**read, "sums": tuple(read["sums"])})
        except (TypeError, KeyError, UserError):  # Of an earlier version, or damaged: built again by the next `flush`.
            return
        path = self._lists(built)
        if built.generation != self.slots.generation or not path.is_file():
            return
        if is_damaged(path, built.sums, whole=whole):  # Until the next `flush`, vectors are compared one by one.
            return
        self._built = built
        self._map(built)

    def _map(self, built: IvfState) -> None:
        """Answer from the file: its pages take no memory of ours."""
        self._index = self._faiss.read_index(str(self._lists(built)), self._faiss.IO_FLAG_MMAP)
        self._index.nprobe = self._nprobe or built.nprobe

    def _lists(self, built: IvfState) -> Path:
        return self._folder / f"ivf-{built.generation}-{built.slots}.faiss"


KIND = BackendKind(ApproximateIndex, {"nlist": int, "nprobe": int, "recall": float, "least": int})
