"""What several attempts at the same task are worth together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError
from sightline.types import Failure, PictureSet


def best_at_k(values: ArrayLike, k: int, *, unbiased: bool = True) -> NDArray[np.float64]:
    """Best@k of each task, from a matrix with a row for each task and a column for each of n attempts.

    Unbiased: the expected maximum of k attempts drawn without replacement from the n,
    Σ_i C(i − 1, k − 1) / C(n, k) · v_(i), with v_(i) the i-th lowest value; plain: the maximum of the first k.
    Both are the maximum of all when k = n. A failed attempt is a 0 of the caller's.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2:
        raise UserError("best@k needs a row for each task and a column for each attempt.")
    n = table.shape[1]
    if not 1 <= k <= n:
        raise UserError(f"best@{k} needs at least {max(k, 1)} attempts; there are {n}.", f"choose k from 1 to {n}")
    if np.isnan(table).any():
        raise UserError("best@k can't take a missing value.", "count a failed or missing attempt as 0")
    if not unbiased:
        return np.asarray(table[:, :k].max(axis=1))
    weights = [comb(i, k - 1) / comb(n, k) for i in range(n)]
    return np.asarray(np.sort(table, axis=1) @ weights)


def majority_vote(attempts: Sequence[PictureSet | Failure], threshold: float = 0.5) -> PictureSet | Failure:
    """The pictures in **more** than this share of the attempts that answered, most votes first.

    A share equal to the threshold is not a majority: of two attempts, both must agree. A failed attempt has no vote;
    when all failed, the first failure is the result. No majority for anything is an empty set: an abstention.
    Pictures with equally many votes stay in the order in which they were first named.
    """
    answered = [attempt for attempt in attempts if isinstance(attempt, PictureSet)]
    if not answered:
        return _first_failure(attempts)
    votes = Counter(picture for attempt in answered for picture in dict.fromkeys(attempt.pictures))
    return PictureSet(tuple(p for p, count in votes.most_common() if count / len(answered) > threshold))


def verifier_choice(attempts: Sequence[PictureSet | Failure], scores: Sequence[float]) -> PictureSet | Failure:
    """The answered attempt that the verifier scores highest, the earliest of equals; a failure when all failed."""
    if len(attempts) != len(scores):
        raise UserError(f"{len(attempts)} attempts, but {len(scores)} verifier scores.", "give one score for each")
    answered = [i for i, attempt in enumerate(attempts) if isinstance(attempt, PictureSet)]
    if not answered:
        return _first_failure(attempts)
    if any(scores[i] != scores[i] for i in answered):
        raise UserError("a verifier score is not a number.", "give every answered attempt a score")
    return attempts[max(answered, key=scores.__getitem__)]


def _first_failure(attempts: Sequence[PictureSet | Failure]) -> Failure:
    for attempt in attempts:
        if isinstance(attempt, Failure):
            return attempt
    return Failure("missing", "there is no attempt at this task")
