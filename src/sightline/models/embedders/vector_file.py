"""What `embed` gives, and the file that it writes: `ids` and `vectors` in one .npz.

The file is written as a stream, whole or not at all.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sightline.display import Frames
from sightline.english import counted
from sightline.errors import UserError, needs_extra
from sightline.io.files import PathLike, write_whole
from sightline.io.unpacked import check_zip
from sightline.models.embedders.embedded_files import SkippedInput
from sightline.models.protocols import Vectors

if TYPE_CHECKING:
    import pandas


class VectorFile(NamedTuple):
    """What such a file holds."""

    ids: NDArray[np.str_]
    vectors: Vectors


class VectorFileShape(NamedTuple):
    """What has to be known before the first byte: rows, numbers in a vector, characters of the longest id."""

    rows: int
    dim: int
    longest: int


def write_vectors(
    path: PathLike,
    shape: VectorFileShape,
    ids: Callable[[], Iterable[list[str]]],
    vectors: Callable[[], Iterable[Vectors]],
) -> None:
    """Write ids and vectors, which come in pages of any size; memory holds one page at a time."""
    # At least one character: numpy has no array of empty strings.
    text = np.dtype(f"<U{max(1, shape.longest)}")
    members = (
        ("ids.npy", (shape.rows,), text, (np.array(page, dtype=text) for page in ids())),
        ("vectors.npy", (shape.rows, shape.dim), np.dtype("<f4"), vectors()),
    )
    Path(path).expanduser().parent.mkdir(parents=True, exist_ok=True)
    write_whole(Path(path).expanduser(), _zipped(members))


def read_vectors(path: PathLike) -> VectorFile:
    """Read such a file, ours or any other with the same two arrays."""
    try:
        check_zip(Path(path).expanduser())
        with np.load(Path(path).expanduser(), allow_pickle=False) as found:
            return VectorFile(found["ids"], found["vectors"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is no file of vectors: {error}.", "make one with sightline embed") from None


def _zipped(members: Iterable[tuple[str, tuple[int, ...], np.dtype[Any], Iterable[NDArray[Any]]]]) -> Iterator[bytes]:
    buffer = _Buffer()
    with zipfile.ZipFile(cast("io.BytesIO", buffer), "w", zipfile.ZIP_STORED) as archive:
        for name, shape, dtype, pages in members:
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                member.write(_header(shape, dtype))
                for page in pages:
                    member.write(np.ascontiguousarray(page, dtype=dtype).tobytes())
                    yield buffer.drain()
    yield buffer.drain()


def _header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    head = io.BytesIO()
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, description)
    return head.getvalue()


class _Buffer:
    """A file that can't be sought in: what was written since the last `drain`."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def drain(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


@dataclass(frozen=True, slots=True, repr=False)
class EmbeddedVectors(Frames):
    """Vectors by id; those that were written to a file are read from it when they are asked for.

    `truncated` is how many texts were longer than the model reads: None where that is not known. `noun` is what was
    embedded: a picture or a text.
    """

    count: int
    dim: int
    embedder: str
    revision: str
    left_out: tuple[SkippedInput, ...]
    truncated: int | None
    from_cache: int
    seconds: float
    path: Path | None = None
    arrays: VectorFile | None = None
    noun: str = "vector"

    @property
    def ids(self) -> NDArray[np.str_]:
        """Picture ids in order, or line numbers."""
        return self._both().ids

    @property
    def vectors(self) -> Vectors:
        """One unit-length row for each id."""
        return self._both().vectors

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many were left out, by reason."""
        return dict(sorted(Counter(item.reason for item in self.left_out).items()))

    def to_json(self) -> dict[str, Any]:
        """The summary that `embed --json` prints."""
        return {
            "count": self.count,
            "left_out": self.reasons,
            "dim": self.dim,
            "embedder": self.embedder,
            "revision": self.revision,
            "truncated": self.truncated,
            "from_cache": self.from_cache,
            "seconds": round(self.seconds, 3),
            "out": None if self.path is None else str(self.path),
        }

    def records(self) -> list[dict[str, Any]]:
        """One record for each id: the numbers of its vector, each under its place."""
        return [
            {"id": str(id_), **{f"{place}": float(number) for place, number in enumerate(vector)}}
            for id_, vector in zip(self.ids, self.vectors, strict=True)
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each id, one column for each number of its vector."""
        with needs_extra("Embedded.to_pandas", "pandas"):
            import pandas
        return pandas.DataFrame(self.vectors, index=pandas.Index(self.ids, name="id"))

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in (self._line(), *self._lines()))

    def _line(self) -> str:
        return f"{counted(self.count, self.noun)} · {self.dim} numbers each · {self.embedder} ({self.revision})"

    def _lines(self) -> Iterator[str]:
        if self.left_out:
            reasons = sorted(self.reasons.items(), key=lambda found: -found[1])
            listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
            yield f"{len(self.left_out):,} left out: {listed}"
        if self.truncated:
            yield f"{self.truncated:,} cut, because they are longer than the model reads"
        made = self.count - self.from_cache
        yield f"{made:,} made now, {self.from_cache:,} from the workspace, in {self.seconds:.1f} s"
        if self.path is not None:
            yield f"→ {self.path}"

    def _blocks(self) -> Iterable[str]:
        return self._lines()

    def _both(self) -> VectorFile:
        if self.arrays is not None:
            return self.arrays
        if self.path is None:
            raise ValueError("neither in memory nor in a file")
        return read_vectors(self.path)
