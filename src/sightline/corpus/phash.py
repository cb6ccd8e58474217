"""A 64-bit perceptual hash and a coarse colour print, both from a 32 × 32 thumbnail.

The hash is the sign pattern of the 64 lowest frequencies (without the mean) of a cosine transform of the luminance,
against their median: two hashes of the same picture at other sizes or qualities differ in a few bits. A picture with
no structure (one flat colour) has hash 0, which never counts as similar to anything. The colour print is the mean
colour of a 4 × 4 grid: it keeps a red and a blue version of the same drawing apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIDE = 32
"""Side of the thumbnail that both are computed from."""
_GRID = 4
_FLAT = 6.0
"""Largest coefficient, in grey levels times SIDE / 2, below which a picture has no structure."""
_LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def _cosines() -> NDArray[np.float32]:
    frequency, position = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    basis: NDArray[np.float64] = np.cos(np.pi * frequency * (2 * position + 1) / (2 * SIDE)) * np.sqrt(2 / SIDE)
    basis[0] /= np.sqrt(2)
    return basis.astype(np.float32)


def _lowest() -> NDArray[np.intp]:
    """Flat indices of the 64 lowest frequencies after the mean, diagonal by diagonal."""
    order = sorted((u + v, u, v) for u in range(SIDE) for v in range(SIDE))
    return np.array([u * SIDE + v for _, u, v in order[1:65]], dtype=np.intp)


_COSINES = _cosines()
_LOWEST = _lowest()


def perceptual_hash(thumbnail: NDArray[np.uint8]) -> int:
    """Hash of a 32 × 32 × 3 thumbnail as an unsigned 64-bit number."""
    grey = thumbnail.astype(np.float32) @ _LUMINANCE
    low = (_COSINES @ grey @ _COSINES.T).ravel()[_LOWEST]
    if np.abs(low).max() < _FLAT:
        return 0
    median = np.sort(low)[31]
    return int.from_bytes(np.packbits(low > median).tobytes(), "big")


def colour_print(thumbnail: NDArray[np.uint8]) -> bytes:
    """Mean colours of a 4 × 4 grid, 48 bytes."""
    cell = SIDE // _GRID
    sums: NDArray[np.uint16] = thumbnail.reshape(_GRID, cell, _GRID, cell, 3).sum(axis=(1, 3), dtype=np.uint16)
    return (sums // cell**2).astype(np.uint8).tobytes()
