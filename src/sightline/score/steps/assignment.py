"""The best one-to-one assignment: Hungarian method with potentials, O(rows² · columns)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_assignment(weights: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """(row, column) pairs of the largest total weight that leave no row over, or no column if there are fewer of those.

    Pairs are in order of rows. An empty matrix has none.
    """
    if weights.ndim != 2 or 0 in weights.shape:
        return ()
    if weights.shape[0] > weights.shape[1]:
        return tuple(sorted((row, column) for column, row in best_assignment(weights.T)))
    owner = _match_rows(-np.asarray(weights, dtype=np.float64))
    return tuple(sorted((int(row), column) for column, row in enumerate(owner) if row >= 0))


def _match_rows(cost: NDArray[np.float64]) -> NDArray[np.intp]:
    """The row that each column belongs to (-1 for none), at the least total cost; rows ≤ columns."""
    rows, columns = cost.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    owner = np.full(columns, -1, dtype=np.intp)
    for row in range(rows):
        reached, distance, before = _shortest_path(row, cost, row_price, column_price, owner)
        end = int(reached[-1])
        # Prices move so that reduced costs stay non-negative and the path costs nothing.
        row_price[row] += distance[end]
        for column in reached[:-1]:
            row_price[owner[column]] += distance[end] - distance[column]
            column_price[column] -= distance[end] - distance[column]
        while end >= 0:
            previous = int(before[end])
            owner[end] = row if previous < 0 else owner[previous]
            end = previous
    return owner


def _shortest_path(
    start: int,
    cost: NDArray[np.float64],
    row_price: NDArray[np.float64],
    column_price: NDArray[np.float64],
    owner: NDArray[np.intp],
) -> tuple[list[int], NDArray[np.float64], NDArray[np.intp]]:
    """Dijkstra's search from a row to the nearest free column: columns reached, their distances, and from where."""
    columns = cost.shape[1]
    distance = np.full(columns, np.inf)
    before = np.full(columns, -1, dtype=np.intp)
    open_columns = np.ones(columns, dtype=bool)
    reached: list[int] = []
    row, last, so_far = start, -1, 0.0
    while True:
        reduced = so_far + cost[row] - row_price[row] - column_price
        better = open_columns & (reduced < distance)
        distance[better] = reduced[better]
        before[better] = last
        last = int(np.argmin(np.where(open_columns, distance, np.inf)))
        open_columns[last] = False
        reached.append(last)
        if owner[last] < 0:
            return reached, distance, before
        row, so_far = int(owner[last]), float(distance[last])
