"""An approximate index (faiss, IVF with bytes) over the exact one, for a million vectors and more.

The vectors lie as in the exact back-end, which answers whatever is limited by `within`, looks at what is new, and gives
the true scores of what the approximate index found. How many lists are probed is chosen when the index is built: the
fewest at which the share of true neighbours found reaches `recall`, on a sample of the vectors themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import MissingExtraError, UserError
from sightline.io import read_json, write_json
from sightline.models.protocols import Vectors
from sightline.search.backends.base import Nearest, Rows
from sightline.search.backends.checks import checked_queries
from sightline.search.backends.exact import ExactIndex
from sightline.search.backends.ranking import NOTHING, Ranked, joined
from sightline.search.backends.scan import merged, nearest_slots

LARGE = 100_000
"""Vectors from which on an approximate index is built; below, every vector is compared."""
RECALL = 0.97
"""Asked of the sample, so that 0.95 holds for others."""
_PAGE = 65_536
_TRAINED = 40
"""Vectors for each list that the lists are learnt from."""
_SAMPLE, _NEIGHBOURS = 128, 10
_WIDER = 4
"""Candidates for each neighbour asked for: bytes order them only nearly."""


@dataclass(frozen=True, slots=True)
class Built:
    """What an approximate index was built of, and how it is asked."""

    generation: int
    trained: int
    slots: int
    nlist: int
    nprobe: int
    recall: float | None


class ApproximateIndex:
    """Exact vectors with an IVF index above them; `recall` is what was measured, None while answers are exact."""

    name = "faiss"

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
        try:
            import faiss
        except ImportError:
            raise MissingExtraError('the back-end "faiss"', "ann") from None
        if not 0 < recall <= 1:
            raise UserError(f"recall={recall} is no share.", "give a number above 0, at most 1")
        self._faiss, self._folder = faiss, folder
        self._nlist, self._nprobe, self._wanted, self._least = nlist, nprobe, recall, least
        self._store = ExactIndex(folder, dim, create=create)
        self._index: Any = None
        self._built: Built | None = None
        self._open()

    @property
    def exact(self) -> bool:
        return self._index is None

    @property
    def dim(self) -> int:
        return self._store.dim

    @property
    def built(self) -> Built | None:
        """The approximate index that answers, if there is one."""
        return self._built if self._index is not None else None

    def __len__(self) -> int:
        return len(self._store)

    def put(self, batches: Iterable[tuple[Rows, Vectors]]) -> None:
        """Keep vectors; until the next `flush` they are compared one by one."""
        self._store.put(batches)

    def remove(self, rows: Rows) -> None:
        """Forget rows; those that are not there are passed over."""
        self._store.remove(rows)

    def rows(self) -> Rows:
        """All row numbers that are there, ascending."""
        return self._store.rows()

    def get(self, rows: Rows) -> Vectors:
        """The vectors of rows that are there; a KeyError names one that is not."""
        return self._store.get(rows)

    def close(self) -> None:
        self._index = None
        self._store.close()

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest:
        """About the k nearest of all for each query; exactly those of the rows `within`."""
        self._store.slots.refresh()
        if within is not None or self._index is None or self._stale():
            return self._store.nearest(queries, k, within)
        asked = checked_queries(queries, self.dim, k)
        best = [self._near(query, k) for query in asked]
        return Nearest([each.rows for each in best], [each.scores for each in best])

    def flush(self) -> None:
        """Take what is new into the approximate index; build it when there is none, or when it has outgrown itself."""
        self._store.flush()
        slots, built = self._store.slots, self._built
        if len(slots) < self._least:
            self._index = self._built = None
        elif self._index is None or built is None or self._stale() or slots.used > 2 * built.trained:
            self._build()
        elif slots.used > built.slots:
            self._add(built.slots)
            self._keep(Built(slots.generation, built.trained, slots.used, built.nlist, built.nprobe, built.recall))

    # --- answers ----------------------------------------------------------------------------------------------

    def _near(self, query: NDArray[np.float32], k: int) -> Ranked:
        assert self._built is not None
        slots, asked = self._store.slots, _WIDER * k
        while True:
            chosen = self._probed(query, asked)
            best = merged(slots, query, k, NOTHING, chosen)
            # Removed and replaced ones are still in the lists, and take up room among the candidates.
            if len(best.rows) == k:
                break
            if len(chosen) < asked:  # The probed lists hold no more: so many are asked for that all must be looked at.
                return nearest_slots(slots, query[None], k)[0]
            asked *= 4
        new = np.arange(self._built.slots, slots.used)
        return joined(best, nearest_slots(slots, query[None], k, new)[0], k) if len(new) else best

    def _probed(self, query: NDArray[np.float32], n: int) -> NDArray[np.int64]:
        _, found = self._index.search(query[None], n)
        chosen: NDArray[np.int64] = np.sort(found[0][found[0] >= 0])
        return chosen

    def _stale(self) -> bool:
        return self._built is None or self._built.generation != self._store.slots.generation

    # --- building ---------------------------------------------------------------------------------------------

    def _build(self) -> None:
        faiss, slots = self._faiss, self._store.slots
        nlist = self._nlist or 2 ** max(4, round(math.log2(slots.used) / 2))
        living = np.flatnonzero(slots.row_of[: slots.used] >= 0)
        some = np.random.default_rng(0).permutation(living)[: _TRAINED * nlist]
        self._index = faiss.index_factory(self.dim, f"IVF{nlist},SQ8", faiss.METRIC_INNER_PRODUCT)
        faiss.extract_index_ivf(self._index).cp.min_points_per_centroid = 1  # Fewer are no reason to warn.
        self._index.train(slots.vectors[np.sort(some)])
        self._add(0)
        nprobe, recall = self._probes(some[:_SAMPLE], nlist)
        self._index.nprobe = nprobe
        self._keep(Built(slots.generation, slots.used, slots.used, nlist, nprobe, recall))

    def _add(self, first: int) -> None:
        slots = self._store.slots
        for at in range(first, slots.used, _PAGE):
            self._index.add(slots.vectors[at : min(slots.used, at + _PAGE)])

    def _probes(self, sample: NDArray[np.intp], nlist: int) -> tuple[int, float]:
        """How many lists to probe, and the share of true neighbours that this finds."""
        slots = self._store.slots
        queries = slots.vectors[np.sort(sample)]
        truth = [set(best.rows.tolist()) for best in nearest_slots(slots, queries, _NEIGHBOURS + 1)]
        tried = self._nprobe or 1
        self._built = Built(slots.generation, slots.used, slots.used, nlist, tried, None)
        while True:
            self._index.nprobe = tried
            # One of them is the query itself, which proves nothing: it is not counted.
            hits = sum(
                len(true & set(self._near(query, _NEIGHBOURS + 1).rows.tolist())) - 1
                for true, query in zip(truth, queries, strict=True)
            )
            share = hits / max(1, sum(len(true) - 1 for true in truth))
            if self._nprobe or share >= self._wanted or tried >= nlist:
                return tried, share
            tried = min(nlist, 2 * tried)

    # --- on disk ----------------------------------------------------------------------------------------------

    def _keep(self, built: Built) -> None:
        """The lists first, under a name of their own; then the note that names them."""
        self._built = built
        path = self._lists(built)
        temporary = path.with_suffix(".part")
        self._faiss.write_index(self._index, str(temporary))
        temporary.replace(path)
        write_json(self._folder / "ivf.json", asdict(built))
        for old in self._folder.glob("ivf-*.faiss"):
            if old != path:
                old.unlink(missing_ok=True)

    def _open(self) -> None:
        note = self._folder / "ivf.json"
        if not note.is_file() or len(self._store) < self._least:
            return
        built = Built(**read_json(note))
        if built.generation != self._store.slots.generation or not self._lists(built).is_file():
            return
        self._index = self._faiss.read_index(str(self._lists(built)), self._faiss.IO_FLAG_MMAP)
        self._index.nprobe = self._nprobe or built.nprobe
        self._built = built

    def _lists(self, built: Built) -> Path:
        return self._folder / f"ivf-{built.generation}-{built.slots}.faiss"
