"""Circles and boxes on Earth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.search.columns import Columns
from sightline.search.columns.kinds import Mask
from sightline.search.filters.tree import Box

EARTH_KM = 6371.0
_KM_PER_DEGREE = 111.0


def kilometres(lat: NDArray[np.float64], lon: NDArray[np.float64], lat0: float, lon0: float) -> NDArray[np.float64]:
    """Great-circle distances to one point."""
    phi, phi0 = np.radians(lat), np.radians(lat0)
    half = np.sin((phi - phi0) / 2) ** 2 + np.cos(phi) * np.cos(phi0) * np.sin(np.radians(lon - lon0) / 2) ** 2
    distances: NDArray[np.float64] = 2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(1.0, half)))
    return distances


def circle(columns: Columns, lat0: float, lon0: float, km: float) -> Mask:
    """Rows at most so far away."""
    lat, lon = columns.numbers("lat").values, columns.numbers("lon").values
    # A degree of latitude is a little more than 111 km, so nothing near is left out.
    rows = np.flatnonzero(np.abs(lat - lat0) <= km / _KM_PER_DEGREE)
    mask = np.zeros(len(columns), np.bool_)
    mask[rows] = kilometres(lat[rows], lon[rows], lat0, lon0) <= km
    return mask


def box(columns: Columns, edges: Box) -> Mask:
    """Rows inside, edges included."""
    lat, lon = columns.numbers("lat").values, columns.numbers("lon").values
    if edges.west <= edges.east:
        inside = (lon >= edges.west) & (lon <= edges.east)
    else:
        inside = (lon >= edges.west) | (lon <= edges.east)
    mask: Mask = (lat >= edges.south) & (lat <= edges.north) & inside
    return mask
