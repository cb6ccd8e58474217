"""A k-NN index of OpenSearch or Elasticsearch as a system: python opensearch.py BENCH --out RUN --index photos.

The query is embedded by the embedder that made the index's vectors. A document's `_id`, or the field --id, is the
picture's id in the benchmark. SEARCH_URL says where, SEARCH_AUTHORIZATION (a whole header value) who.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.request
from typing import Any

import sightline


class Knn:
    """`POST /INDEX/_search` with the vector of the query, in OpenSearch's form or in Elasticsearch's."""

    def __init__(
        self,
        url: str,
        index: str,
        embedder: str | sightline.FunctionEmbedder,
        *,
        field: str = "vector",
        id_field: str | None = None,
        elastic: bool = False,
        authorization: str | None = None,
    ) -> None:
        self.url = f"{url.rstrip('/')}/{index}/_search"
        self.embedder, self.field, self.id_field, self.elastic = embedder, field, id_field, elastic
        self.headers = {"content-type": "application/json"}
        if authorization:
            self.headers["authorization"] = authorization

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        vector = sightline.embed([query], embedder=self.embedder).vectors[0].tolist()
        hits = self._ask(self._body(vector, k))["hits"]["hits"]
        return [(self._id(hit), float(hit["_score"])) for hit in hits]

    def _body(self, vector: list[float], k: int) -> dict[str, Any]:
        if self.elastic:
            asked = {"field": self.field, "query_vector": vector, "k": k, "num_candidates": max(100, 2 * k)}
            return {"size": k, "knn": asked}
        return {"size": k, "query": {"knn": {self.field: {"vector": vector, "k": k}}}}

    def _id(self, hit: dict[str, Any]) -> str:
        return str(hit["_id"] if self.id_field is None else hit["_source"][self.id_field])

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(self.url, json.dumps(body).encode(), self.headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--out", required=True)
    parser.add_argument("--index", required=True)
    parser.add_argument("--embedder", default="photos")
    parser.add_argument("--field", default="vector")
    parser.add_argument("--id", default=None)
    parser.add_argument("--elastic", action="store_true")
    given = parser.parse_args()
    knn = Knn(
        os.environ["SEARCH_URL"], given.index, given.embedder, field=given.field, id_field=given.id,
        elastic=given.elastic, authorization=os.environ.get("SEARCH_AUTHORIZATION"),
    )  # fmt: skip
    print(sightline.run(given.benchmark, knn.search, out=given.out))


if __name__ == "__main__":
    main()
