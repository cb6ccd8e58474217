"""A pgvector table of your own as a system: python pgvector.py BENCH --out RUN --table photos.

The query is embedded by the embedder that made the table's vectors; nearest by cosine distance (--operator for
another). DATABASE_URL says where and who. Needs `pip install "psycopg[binary]"`.
"""

from __future__ import annotations

import argparse
import os

import psycopg
from psycopg import sql

import sightline

OPERATORS = ("<=>", "<->", "<#>")
"""pgvector's distances: cosine, Euclidean, and the negative inner product. All are small for what is near."""


class VectorTable:
    """Rows of a table, nearest to the query first."""

    def __init__(
        self,
        address: str,
        table: str,
        embedder: str | sightline.FunctionEmbedder,
        *,
        id_column: str = "id",
        vector_column: str = "embedding",
        operator: str = "<=>",
    ) -> None:
        if operator not in OPERATORS:
            raise ValueError(f"{operator} is no distance of pgvector: {', '.join(OPERATORS)}")
        self.address, self.embedder = address, embedder
        self.statement = sql.SQL(
            f"SELECT {{id}}, -({{vector}} {operator} %(wanted)s::vector) FROM {{table}} "
            f"ORDER BY {{vector}} {operator} %(wanted)s::vector LIMIT %(k)s"
        ).format(id=sql.Identifier(id_column), vector=sql.Identifier(vector_column), table=sql.Identifier(table))

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        vector = sightline.embed([query], embedder=self.embedder).vectors[0].tolist()
        with psycopg.connect(self.address) as connection:
            rows = connection.execute(self.statement, {"wanted": str(vector), "k": k}).fetchall()
        return [(str(id_), float(score)) for id_, score in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--out", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--embedder", default="photos")
    parser.add_argument("--id", default="id")
    parser.add_argument("--vector", default="embedding")
    parser.add_argument("--operator", choices=OPERATORS, default="<=>")
    given = parser.parse_args()
    table = VectorTable(
        os.environ["DATABASE_URL"], given.table, given.embedder, id_column=given.id, vector_column=given.vector,
        operator=given.operator,
    )  # fmt: skip
    print(sightline.run(given.benchmark, table.search, out=given.out))


if __name__ == "__main__":
    main()
