"""`--backend prefix`: compare the first numbers of each vector, and the best of those in full."""

import numpy as np

from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores import Nearest, Rows
from sightline.retrieval.vector_stores.base import BackendKind
from sightline.retrieval.vector_stores.exact import ExactIndex


class PrefixIndex(ExactIndex):
    name, exact = "prefix", False

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest:
        rows = self.rows() if within is None else np.intersect1d(within, self.rows())
        nearly = np.atleast_2d(queries)[:, :64] @ self.get(rows)[:, :64].T
        chosen = [np.sort(rows[np.argsort(-each)[: 10 * k]]) for each in nearly]
        pairs = zip(np.atleast_2d(queries), chosen, strict=True)
        found = [ExactIndex.nearest(self, query, k, near) for query, near in pairs]
        return Nearest([one.rows[0] for one in found], [one.scores[0] for one in found])


KIND = BackendKind(PrefixIndex, {})
