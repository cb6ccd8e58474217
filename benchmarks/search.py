"""Search over vectors: python benchmarks/search.py [--rows N] [--million] [--without NAME,…].

109,467 × 512 clustered vectors, as many as DISBench has pictures: a bare numpy product beside our back-ends, whole and
restricted, and others'. The candidates take turns, so that a busy machine is busy for all of them; ratios of medians.
`--million` adds 1,000,000 vectors as those of photographs (flickr_vectors.py), the approximate index and LanceDB's.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sightline.retrieval.vector_stores.base import VectorIndex
from sightline.retrieval.vector_stores.faiss import ApproximateIndex
from sightline.retrieval.vector_stores.registry import open_vector_store

DIM, K, ROUNDS, PAGE = 512, 10, 31, 16_384
OWNER, SHARE = 2000, 0.05
ALPHA = 0.5
"""How fast the spread of the directions falls off, as it does in the embeddings of real pictures."""


class World:
    """Clustered unit vectors made page by page: the same every time, and never all in memory."""

    def __init__(self, count: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.count = count
        self._spread = ((1 + np.arange(DIM)) ** -ALPHA).astype(np.float32)
        self._turn = np.linalg.qr(rng.standard_normal((DIM, DIM)))[0].astype(np.float32)
        self._centres = rng.standard_normal((max(64, count // 200), DIM), dtype=np.float32) * self._spread

    def pages(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, self.count, PAGE):
            rows = np.arange(start, min(self.count, start + PAGE))
            yield rows, self.some(len(rows), seed=start + 1)

    def some(self, count: int, seed: int, noise: float = 0.6) -> np.ndarray:
        """Vectors around the centres."""
        rng = np.random.default_rng(seed)
        chosen = self._centres[rng.integers(0, len(self._centres), count)]
        vectors = chosen + noise * rng.standard_normal((count, DIM), dtype=np.float32) * self._spread
        vectors = vectors @ self._turn
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def random_unit(count: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, DIM), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def race(candidates: dict[str, Callable[[np.ndarray], object]], queries: np.ndarray) -> dict[str, float]:
    """The median time of each, in milliseconds; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for at in range(-1, ROUNDS):
        for name, ask in candidates.items():
            started = time.perf_counter()
            ask(queries[at % len(queries)])
            if at >= 0:
                times[name].append((time.perf_counter() - started) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def told(title: str, medians: dict[str, float], base: str) -> None:
    print(f"\n{title}")
    for name, median in medians.items():
        print(f"  {name:<52} {median:9.2f} ms {median / medians[base]:8.3f} ×")


def verdict(what: str, holds: bool, figure: str) -> None:
    print(f"  {'holds' if holds else 'FAILS':<6} {what}: {figure}")


def recall(index: VectorIndex, exact: VectorIndex, queries: np.ndarray, within: np.ndarray | None = None) -> float:
    """The share of the true K nearest that an index finds."""
    truth = exact.nearest(queries, K, within).rows
    hits = sum(
        len(set(true.tolist()) & set(index.nearest(query, K, within).rows[0].tolist()))
        for true, query in zip(truth, queries, strict=True)
    )
    return hits / sum(map(len, truth))


def built(spec: str, folder: Path, pages: Iterator[tuple[np.ndarray, np.ndarray]]) -> VectorIndex:
    started = time.perf_counter()
    index = open_vector_store(spec, folder, DIM, create=True)
    index.put(pages)
    index.flush()
    print(f"  {spec:<20} built in {time.perf_counter() - started:.1f} s")
    return index


def others(matrix: np.ndarray, folder: Path, without: set[str]) -> dict[str, Callable[[np.ndarray], object]]:
    """What else is there, each asked in its own way."""
    asks: dict[str, Callable[[np.ndarray], object]] = {}
    if "faiss" not in without and at_hand("faiss"):
        import faiss

        flat = faiss.IndexFlatIP(DIM)
        flat.add(matrix)
        half = faiss.IndexScalarQuantizer(DIM, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        half.add(matrix)
        asks["faiss flat"] = lambda query: flat.search(query[None], K)
        asks["faiss flat, fp16"] = lambda query: half.search(query[None], K)
    if "lance" not in without and at_hand("lancedb"):
        lance = built("lance", folder / "lance", pages_of(matrix))
        asks["LanceDB flat"] = lambda query: lance.nearest(query, K)
    return asks


def at_hand(package: str) -> bool:
    there = find_spec(package) is not None
    if not there:
        print(f"  {package} is not installed: left out")
    return there


def pages_of(matrix: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, len(matrix), PAGE):
        page = matrix[start : start + PAGE]
        yield np.arange(start, start + len(page)), page


def small(count: int, folder: Path, without: set[str]) -> None:
    """All the ratios that are asked for, on vectors that fit in memory."""
    world = World(count)
    matrix = np.concatenate([vectors for _, vectors in world.pages()])
    print(f"{count:,} × {DIM} clustered vectors, k = {K}, {ROUNDS} rounds")
    exact = built("exact", folder / "exact", world.pages())
    quantised = built("exact:quantised", folder / "quantised", world.pages())
    rng = np.random.default_rng(7)
    owner = np.sort(rng.choice(count, OWNER, replace=False))
    share = np.sort(rng.choice(count, int(SHARE * count), replace=False))
    queries = world.some(ROUNDS, seed=10**9, noise=0.8)
    asks: dict[str, Callable[[np.ndarray], object]] = {
        "numpy: matrix @ query, argpartition": lambda query: np.argpartition(-(matrix @ query), K)[:K],
        "exact": lambda query: exact.nearest(query, K),
        f"exact, an owner's {OWNER:,}": lambda query: exact.nearest(query, K, owner),
        "exact, 5 % of all": lambda query: exact.nearest(query, K, share),
        "quantised": lambda query: quantised.nearest(query, K),
        **others(matrix, folder, without),
    }
    medians = race(asks, queries)
    told("one query", medians, "numpy: matrix @ query, argpartition")
    numpy, whole, limited, part, bytes_ = list(medians.values())[:5]
    shares = {name: recall(quantised, exact, asked) for name, asked in _kinds(world, matrix).items()}
    print()
    verdict("exact at most 1.2 × numpy", whole <= 1.2 * numpy, f"{whole / numpy:.2f} ×")
    verdict("an owner at least 5 × faster than all", 5 * limited <= whole, f"{whole / limited:.1f} ×")
    verdict("5 % of all faster than all", part < whole, f"{whole / part:.1f} ×")
    verdict("quantised at least 2 × faster than numpy", 2 * bytes_ <= numpy, f"{numpy / bytes_:.1f} ×")
    for name, found in shares.items():
        verdict(f"quantised recall@{K} 1, {name}", found == 1, f"{found:.4f}")
    hardest(folder, count)


def _kinds(world: World, matrix: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "queries like the vectors": world.some(100, seed=10**9 + 1),
        "vectors of the index": matrix[:: max(1, len(matrix) // 100)][:100],
        "queries like none of them": random_unit(100, 1),
    }


def hardest(folder: Path, count: int) -> None:
    """Random vectors, the worst case for any bound."""
    matrix = random_unit(count, 3)
    print("\nrandom vectors, the worst case")
    quantised = built("exact:quantised", folder / "random", pages_of(matrix))
    exact = open_vector_store("exact", folder / "random", DIM, create=False)
    queries = random_unit(ROUNDS, 4)
    medians = race(
        {
            "numpy: matrix @ query, argpartition": lambda query: np.argpartition(-(matrix @ query), K)[:K],
            "exact": lambda query: exact.nearest(query, K),
            "quantised": lambda query: quantised.nearest(query, K),
        },
        queries,
    )
    told("one query", medians, "numpy: matrix @ query, argpartition")
    found = recall(quantised, exact, queries)
    verdict(f"quantised recall@{K} 1", found == 1, f"{found:.4f}")


def large(count: int, folder: Path, without: set[str]) -> None:
    """More vectors than one would compare one by one, as those of photographs: approximate ones with their recall."""
    from flickr_vectors import FlickrVectors

    world = FlickrVectors(count)
    print(f"\n{count:,} × {DIM} vectors made as those of Flickr8k's pictures, queries as those of its captions")
    started = time.perf_counter()
    index = ApproximateIndex(folder / "large", DIM, create=True)
    index.put(world.pages())
    print(f"  vectors written in {time.perf_counter() - started:.1f} s")
    index.expect(lambda: {"texts": world.texts(512, seed=10**9 + 2)})
    started = time.perf_counter()
    index.flush()
    print(f"  {'faiss':<20} built in {time.perf_counter() - started:.1f} s")
    print(f"  memory of its own {own_memory():,.0f} MB; the vectors are {4 * DIM * count / 2**20:,.0f} MB")
    exact = open_vector_store("exact:quantised", folder / "large", DIM, create=False)
    started = time.perf_counter()
    exact.flush()
    print(f"  {'exact:quantised':<20} built beside it in {time.perf_counter() - started:.1f} s")
    stores = {"exact:quantised": exact, "approximate (faiss IVF)": index}
    if "lance" not in without and at_hand("lancedb"):
        stores["LanceDB IVF"] = built("lance", folder / "lance", world.pages())
    queries, asked = world.texts(ROUNDS, seed=10**9), world.texts(100, seed=10**9 + 3)
    assert index.built is not None
    print(f"  {index.built.nprobe} of {index.built.nlist} lists probed; recall as it was measured: {index.recalls}")
    for share in (1.0, 0.5, 0.2):
        within = None if share == 1 else np.flatnonzero(np.random.default_rng(7).random(count) < share)
        medians = race({name: limited(store, within) for name, store in stores.items()}, queries)
        told(f"one text, {share:.0%} of all", medians, "exact:quantised")
        for name, store in list(stores.items())[1:]:
            found = recall(store, exact, asked, within)
            holds = found >= 0.95 and 3 * medians[name] <= medians["exact:quantised"]
            verdict(f"{name}: 3 × at recall@{K} 0.95", holds, f"{found:.4f}")
    started = time.perf_counter()
    index.put([(np.arange(count, count + 1000), world.some(1000, seed=5))])
    index.flush()
    assert index.built.trained == count
    print(f"  1,000 more, without building anew: {time.perf_counter() - started:.1f} s")
    print(f"  {folder_size(folder / 'large'):,.0f} MB on disk are mapped")


def limited(store: VectorIndex, within: np.ndarray | None) -> Callable[[np.ndarray], object]:
    return lambda query: store.nearest(query, K, within)


def own_memory() -> float:
    """What the process holds beside files that it has mapped, in MB (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def folder_size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, help="how many vectors (109,467; with --million 1,000,000)")
    options.add_argument("--million", action="store_true", help="the large part, after the small one")
    options.add_argument("--only-large", action="store_true", help="the large part alone")
    options.add_argument("--without", default="", help="leave out: faiss, lance")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not chosen.only_large:
            small(109_467 if chosen.million else chosen.rows or 109_467, Path(folder), set(chosen.without.split(",")))
        if chosen.million or chosen.only_large:
            large(chosen.rows or 1_000_000, Path(folder), set(chosen.without.split(",")))


if __name__ == "__main__":
    main()
