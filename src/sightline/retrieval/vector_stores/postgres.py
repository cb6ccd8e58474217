"""PostgreSQL with pgvector: one table an index; a scan of all by default, an HNSW index if asked for.

The server's address is used and forgotten: it is in no file, and no message holds a password.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, UserError, needs_extra
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import BackendKind, FoundVectors, Rows
from sightline.retrieval.vector_stores.service import ServiceIndex, collection_name, found_vectors

_HNSW_DIMS = 2000
"""What pgvector's HNSW can hold at most."""


class PostgresIndex(ServiceIndex):
    """Vectors in a table of their own; `hnsw` makes searches of all rows approximate, and fast past a million."""

    kind, label = "postgres", "PostgreSQL"
    page = 5000
    span = 200_000

    def __init__(self, address: str, folder: Path, dim: int, *, create: bool, hnsw: bool = False) -> None:
        with needs_extra('the back-end "postgres"', "postgres"):
            import pgvector.psycopg
            import psycopg
        super().__init__(dim, address, hnsw=hnsw)
        if hnsw and dim > _HNSW_DIMS:
            raise UserError(f"HNSW in pgvector takes at most {_HNSW_DIMS} numbers, not {dim}.", "leave out hnsw=true")
        self._psycopg, self._register = psycopg, pgvector.psycopg.register_vector
        self._connection: Any = None
        self._table = psycopg.sql.Identifier(collection_name(folder, self.kind, dim, create=create))
        with self._answering():
            self._prepare()

    def flush(self) -> None:
        """Build the HNSW index where one is asked for, and let the planner see what has changed."""
        with self._answering():
            if self._hnsw:
                self._run("CREATE INDEX IF NOT EXISTS {index} ON {table} USING hnsw (vector vector_ip_ops)")
            self._run("ANALYZE {table}")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # --- the questions ----------------------------------------------------------------------------------------

    def _count(self) -> int:
        return int(self._run("SELECT count(*) FROM {table}").fetchone()[0])

    def _upsert(self, rows: Rows, vectors: Vectors) -> None:
        with self._connected().transaction():
            self._run("CREATE TEMP TABLE incoming (LIKE {table}) ON COMMIT DROP")
            cursor = self._connection.cursor()
            with cursor.copy("COPY incoming (row, vector) FROM STDIN WITH (FORMAT BINARY)") as copy:
                copy.set_types(["int8", "vector"])
                for row, vector in zip(rows.tolist(), vectors, strict=True):
                    copy.write_row((row, vector))
            self._run(
                "INSERT INTO {table} SELECT * FROM incoming ON CONFLICT (row) DO UPDATE SET vector = excluded.vector"
            )

    def _delete(self, rows: Rows) -> None:
        self._run("DELETE FROM {table} WHERE row = ANY(%s)", rows.tolist())

    def _all_rows(self) -> Rows:
        return np.fromiter((row for (row,) in self._run("SELECT row FROM {table}")), np.int64)

    def _fetch(self, rows: Rows) -> FoundVectors:
        return self._found(self._run("SELECT row, vector FROM {table} WHERE row = ANY(%s)", rows.tolist()))

    def _closest(self, query: NDArray[np.float32], n: int, within: Rows | None) -> FoundVectors:
        if within is not None:
            # The rows are picked before anything is ordered, so no HNSW index can make the answer approximate.
            picked = (
                "WITH picked AS MATERIALIZED (SELECT row, vector FROM {table} WHERE row = ANY(%s)) "
                "SELECT row, vector FROM picked ORDER BY vector <#> %s, row LIMIT %s"
            )
            return self._found(self._run(picked, within.tolist(), query, n))
        if self._hnsw:
            with self._connected().transaction():
                self._run(f"SET LOCAL hnsw.ef_search = {min(1000, max(100, 2 * n))}")
                self._run("SET LOCAL hnsw.iterative_scan = strict_order")
                return self._found(
                    self._run("SELECT row, vector FROM {table} ORDER BY vector <#> %s LIMIT %s", query, n)
                )
        return self._found(self._run("SELECT row, vector FROM {table} ORDER BY vector <#> %s, row LIMIT %s", query, n))

    # --- inside -----------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        connection = self._connected()
        shown = connection.execute("SELECT to_regclass(%s)", (self._table.as_string(connection),)).fetchone()
        if shown[0] is None:
            self._run(f"CREATE TABLE {{table}} (row bigint PRIMARY KEY, vector vector({self._dim}) NOT NULL)")

    def _found(self, rows: Any) -> FoundVectors:
        pairs = rows.fetchall()
        return found_vectors((row for row, _ in pairs), (vector.to_numpy() for _, vector in pairs), self._dim)

    def _run(self, statement: str, *values: object) -> Any:
        sql = self._psycopg.sql
        name = self._table.as_string(None).strip('"')
        text = sql.SQL(statement).format(table=self._table, index=sql.Identifier(f"{name}_hnsw"))
        return self._connected().execute(text, values, binary=True)

    def _connected(self) -> Any:
        if self._connection is None:
            self._connection = self._psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            self._connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            self._register(self._connection)
        return self._connection

    def _told(self, error: Exception) -> SightlineError | None:
        psycopg = self._psycopg
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            self.close()
            return self._gone(error)
        if isinstance(error, psycopg.ProgrammingError):
            fix = "check the address after postgres:, that pgvector is installed there, and your rights"
            return UserError(self._refused(error).message, fix)
        return None


KIND = BackendKind(PostgresIndex, {"hnsw": bool}, address="")
