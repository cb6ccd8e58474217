"""A Qdrant collection of your own as a system: python qdrant.py BENCH --out RUN --collection photos.

The query is embedded by the embedder that made the collection's vectors. The payload's field --id holds the picture's
id in the benchmark. QDRANT_URL and QDRANT_API_KEY say where and who. Needs `pip install qdrant-client`.
"""

from __future__ import annotations

import argparse
import os

from qdrant_client import QdrantClient

import sightline


class Collection:
    """Points of a collection, nearest to the query first."""

    def __init__(
        self, client: QdrantClient, name: str, embedder: str | sightline.FunctionEmbedder, *, id_field: str = "id"
    ) -> None:
        self.client, self.name, self.embedder, self.id_field = client, name, embedder, id_field

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        vector = sightline.embed([query], embedder=self.embedder).vectors[0].tolist()
        points = self.client.query_points(self.name, query=vector, limit=k, with_payload=[self.id_field]).points
        return [(str((point.payload or {})[self.id_field]), float(point.score)) for point in points]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--out", required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--embedder", default="photos")
    parser.add_argument("--id", default="id")
    given = parser.parse_args()
    client = QdrantClient(url=os.environ["QDRANT_URL"], api_key=os.environ.get("QDRANT_API_KEY"))
    collection = Collection(client, given.collection, given.embedder, id_field=given.id)
    print(sightline.run(given.benchmark, collection.search, out=given.out))


if __name__ == "__main__":
    main()
