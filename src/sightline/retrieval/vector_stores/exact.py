"""The default store: every vector compared, in this process, from files of the index; after a quantised pass if asked.

The quantised pass reads one byte a number instead of four, with a bound on its error, so that the answer stays exact.
A vector x is turned by one random rotation (so that no single number is large) and written as c·s, with whole numbers c
in ±127 and its own scale s; the length of what is lost, e = |x - c·s|, is kept too. For a query q, coded as d·t with
error f, |q·x - (d·t)·(c·s)| <= |q|·e + f·|c·s|. The k best by that product prove a floor that the k-th score reaches;
whatever can't reach it even with its error on top is out, and the few that are left are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.errors import needs_extra
from sightline.io.files import write_whole
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import (
    LONGEST,
    NOTHING,
    BackendKind,
    Nearest,
    RankedRows,
    Rows,
    as_rows,
    checked_batches,
    checked_queries,
    floor_of,
    joined,
)
from sightline.retrieval.vector_stores.scan import ALMOST_ALL, Places, in_pieces, merged, nearest_slots, worst
from sightline.retrieval.vector_stores.slots import BOUNDS, CODES, Slots, write_at

_PAGE = 8192
_COMPARED = 1 << 20
"""Codes that are compared at a time: their products take 8 MB."""
_TOP = 127.0
_MANY = 4096
"""More candidates than this are compared in single precision once more."""
_ROUNDING = 1.001
"""On what is computed in single precision itself."""
_FEW_QUERIES = 4
"""More queries at once share one product in single precision, which is then the faster way."""


class Coded(NamedTuple):
    """Whole numbers in ±127; `scales` and `errors` of each vector side by side."""

    numbers: NDArray[np.int8]
    bounds: NDArray[np.float32]


def coded(turned: NDArray[np.floating[Any]]) -> Coded:
    """Vectors as whole numbers, with the length of what is lost."""
    scales = np.maximum(np.abs(turned).max(axis=1), 1e-30).astype(np.float32) / np.float32(_TOP)
    numbers = np.rint(turned / scales[:, None])
    np.clip(numbers, -_TOP, _TOP, out=numbers)
    errors = np.sqrt(np.square(turned - numbers * scales[:, None]).sum(axis=1)) * _ROUNDING
    return Coded(numbers.astype(np.int8), np.stack([scales, errors.astype(np.float32)], axis=1))


class _Asked(NamedTuple):
    """A query's code, and how far from the query it is."""

    numbers: NDArray[np.int8]
    scale: float
    error: float
    length: float


class Codes:
    """The codes of an index's slots, in files beside them; slots without a code yet are compared as they are.

    So are all where codes are damaged, which are looked for in all of them if `whole`.
    """

    def __init__(self, slots: Slots, *, whole: bool = False) -> None:
        with needs_extra('the back-end "exact:quantised"', "quantised"):
            import numkong
        self._cdist = numkong.cdist
        self._slots = slots
        self._whole, self._refused = whole, (-1, 0)
        self._rotation = self._kept_rotation()
        # What single precision in turning, scaling and comparing can add, at its worst.
        self._extra = (slots.dim**1.5 + 16) * 2.0**-24 * LONGEST
        self._nothing = Coded(np.zeros((0, slots.dim), np.int8), np.zeros((0, 2), np.float32))
        self._generation, self._coded = -1, self._nothing
        self._open()

    def catch_up(self) -> None:
        """Code the slots that have no code yet; on disk before it is known."""
        self._open()
        slots, done = self._slots, len(self._coded.numbers)
        if done == slots.used:
            return
        if not done:
            self._refused = (-1, 0)
            slots.sums.forget(CODES, BOUNDS)
        turn = self._rotation.astype(np.float32)
        for at in range(done, slots.used, _PAGE):
            page = coded(slots.vectors[at : min(slots.used, at + _PAGE)] @ turn)
            write_at(self._file(CODES), at * slots.dim, page.numbers.data)
            write_at(self._file(BOUNDS), at * 8, page.bounds.data)
            slots.sums.keep(CODES, slots.generation, at, page.numbers)
            slots.sums.keep(BOUNDS, slots.generation, at, page.bounds)
        # Another process may have done the same, with the same bytes, or have gone on to the next generation.
        slots.database.execute(
            "UPDATE state SET coded = max(coded, ?) WHERE generation = ?", (slots.used, slots.generation)
        )
        self._open()
        self._clear_away()

    def nearest(self, query: NDArray[np.float32], k: int, within: Places | None = None) -> RankedRows:
        """The k nearest of all living slots, or of those `within`."""
        self._open()
        asked = self._asked(query)
        best, done = NOTHING, len(self._coded.numbers)
        for start in range(0, done, _COMPARED):
            stop = min(done, start + _COMPARED)
            chosen = self._may_be_among(asked, k, worst(best, k), _part(within, start, stop), start, stop)
            best = self._compared(query, k, best, chosen)
        if done < self._slots.used:
            rest = _part(within, done, self._slots.used)
            rest = np.arange(done, self._slots.used) if rest is None else rest
            best = joined(best, nearest_slots(self._slots, query[None], k, rest)[0], k)
        return best

    # --- inside -----------------------------------------------------------------------------------------------

    def _asked(self, query: NDArray[np.float32]) -> _Asked:
        turned = query.astype(np.float64) @ self._rotation
        code = coded(turned[None])
        scale, error = (float(number) for number in code.bounds[0])
        return _Asked(code.numbers, scale, error, float(np.linalg.norm(turned)))

    def _may_be_among(
        self, asked: _Asked, k: int, floor: float, within: Places | None, start: int, stop: int
    ) -> Places:
        """The slots of a page that may be among the k nearest, if these must reach the floor."""
        products = self._products(asked, start, stop)
        scales, errors = self._coded.bounds[start:stop, 0], self._coded.bounds[start:stop, 1]
        scores = products * (scales * np.float32(asked.scale))
        dead = _part(self._slots.dead, start, stop)
        if dead is not None:
            scores[dead - start] = -np.inf
        if within is not None:
            scores, errors = scores[within - start], errors[within - start]
        least_margin = asked.length * self._extra + asked.error * LONGEST
        margins = errors * np.float32((asked.length + asked.error) * _ROUNDING) + np.float32(least_margin * _ROUNDING)
        sure = np.flatnonzero(scores >= floor_of(scores, k))
        if len(sure) >= k:
            least = scores[sure] - margins[sure]
            floor = max(floor, float(np.partition(least, len(least) - k)[len(least) - k]))
        hits = np.flatnonzero(scores + margins >= floor)
        return hits + start if within is None else within[hits]

    def _products(self, asked: _Asked, start: int, stop: int) -> NDArray[np.float32]:
        products = np.empty((stop - start, 1), np.float32)
        codes = self._coded.numbers[start:stop]

        def piece(first: int, last: int) -> None:
            products[first:last] = self._cdist(codes[first:last], asked.numbers, metric="dot")

        in_pieces(piece, len(codes))
        return products[:, 0]

    def _compared(self, query: NDArray[np.float32], k: int, best: RankedRows, chosen: Places) -> RankedRows:
        if len(chosen) <= _MANY:
            return merged(self._slots, query, k, best, chosen)
        return joined(best, nearest_slots(self._slots, query[None], k, chosen)[0], k)

    def _open(self) -> None:
        """Map the codes that are known for the slots as they are."""
        slots = self._slots
        generation, count = slots.database.execute("SELECT generation, coded FROM state").fetchone()
        if generation != slots.generation:  # Another process has gone on; our slots are still those of before.
            count = len(self._coded.numbers) if self._generation == slots.generation else 0
        if (slots.generation, count) in ((self._generation, len(self._coded.numbers)), self._refused):
            return
        self._generation, self._coded = slots.generation, self._nothing
        with suppress(OSError, ValueError):  # Taken away, or copied in part: made again by the next `catch_up`.
            numbers = _mapped(self._file(CODES), "i1", count, slots.dim)
            found = Coded(numbers, _mapped(self._file(BOUNDS), "<f4", count, 2))
            if self._is_damaged(found):
                self._refused = (slots.generation, count)
            else:
                self._coded = found

    def _is_damaged(self, found: Coded) -> bool:
        sums, generation = self._slots.sums, self._slots.generation
        files = ((CODES, found.numbers), (BOUNDS, found.bounds))
        slots = [sums.find_damage(file, generation, content, whole=self._whole) for file, content in files]
        return any(slot is not None for slot in slots)

    def _kept_rotation(self) -> NDArray[np.float64]:
        """The rotation of an index: random, made once and kept; codes of one that was damaged are made again."""
        slots, path = self._slots, self._slots.folder / f"rotation-{self._slots.dim}.npy"
        if path.is_file():
            with suppress(OSError, ValueError, EOFError):
                loaded: NDArray[np.float64] = np.load(path)
                if slots.sums.find_damage(path.name, 0, loaded, whole=True) is None:
                    return loaded
            slots.database.execute("UPDATE state SET coded = 0")
        square, _ = np.linalg.qr(np.random.default_rng(slots.dim).standard_normal((slots.dim, slots.dim)))
        content = BytesIO()
        np.save(content, square)
        write_whole(path, content.getvalue())
        slots.sums.keep(path.name, 0, 0, square)
        return square

    def _clear_away(self) -> None:
        for old in self._slots.folder.glob("codes-*"):
            if old.stem != f"codes-{self._slots.generation}":
                with suppress(OSError):  # Windows keeps what another process has mapped.
                    old.unlink()

    def _file(self, kind: str) -> Path:
        return self._slots.folder / f"codes-{self._slots.generation}.{kind}"


def _mapped(path: Path, kind: str, count: int, width: int) -> NDArray[Any]:
    if not count:
        return np.zeros((0, width), kind)
    return np.asarray(np.memmap(path, dtype=kind, mode="r", shape=(count, width)))


def _part(places: Places | None, start: int, stop: int) -> Places | None:
    """Those from start to stop, of ascending places."""
    return None if places is None else places[np.searchsorted(places, start) : np.searchsorted(places, stop)]


class ExactIndex:
    """Vectors in memory-mapped files; what `put` was given is kept when it returns."""

    def __init__(self, folder: Path, dim: int, *, create: bool, quantised: bool = False) -> None:
        self.slots = Slots(folder, dim, create=create)
        self._codes = Codes(self.slots, whole=create) if quantised else None

    @property
    def name(self) -> str:
        return "exact" if self._codes is None else "exact:quantised"

    @property
    def exact(self) -> bool:
        return True

    @property
    def dim(self) -> int:
        return self.slots.dim

    def __len__(self) -> int:
        self.slots.refresh()
        return len(self.slots)

    def put(self, batches: Iterable[tuple[Rows, Vectors]]) -> None:
        """Keep vectors, batch by batch: each batch whole, and known to all, before the next is taken."""
        for rows, vectors in checked_batches(batches, self.dim):
            self.slots.append(rows, vectors)

    def remove(self, rows: Rows) -> None:
        """Forget rows; those that are not there are passed over."""
        self.slots.remove(as_rows(rows))

    def rows(self) -> Rows:
        """All row numbers that are there, ascending."""
        self.slots.refresh()
        return self.slots.rows()

    def get(self, rows: Rows) -> Vectors:
        """The vectors of rows that are there; a KeyError names one that is not."""
        self.slots.refresh()
        wanted = as_rows(rows)
        found = self.slots.find(wanted)
        if len(found) and int(found.min()) < 0:
            raise KeyError(f"row {int(wanted[found < 0][0])} is not in the index")
        return self.slots.vectors[found]

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest:
        """The k nearest of all, or of the rows `within`, for each query."""
        asked = checked_queries(queries, self.dim, k)
        self.slots.refresh()
        places = None if within is None else self.places(within)
        best = self._ranked(asked, k, places)
        return Nearest([each.rows for each in best], [each.scores for each in best])

    def places(self, within: Rows) -> Places:
        """The living slots of rows, ascending."""
        found = self.slots.find(as_rows(within))
        found = found[found >= 0]
        found.sort()
        return found

    def flush(self) -> None:
        """Give back the room of what was removed, and quantise what is new."""
        self.slots.refresh()
        self.slots.compact()
        if self._codes is not None:
            self._codes.catch_up()

    def close(self) -> None:
        self.slots.database.close()

    def _ranked(self, queries: Vectors, k: int, within: Places | None) -> list[RankedRows]:
        many = within is None or len(within) >= ALMOST_ALL * self.slots.used
        if self._codes is not None and many and len(queries) <= _FEW_QUERIES:
            return [self._codes.nearest(query, k, within) for query in queries]
        return nearest_slots(self.slots, queries, k, within)


KIND = BackendKind(ExactIndex, {"quantised": bool})
