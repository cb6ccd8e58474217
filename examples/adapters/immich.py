"""Immich's smart search as a system: python immich.py BENCH --out RUN.

Pictures are told by their original file names, which must be those of the benchmark's ids (with --by path: by the end
of their original paths). IMMICH_URL and IMMICH_API_KEY say where and who.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.request
from pathlib import PurePosixPath
from typing import Any

import sightline


class Immich:
    """`POST /api/search/smart`, page by page until there are `k` pictures of the benchmark."""

    def __init__(self, url: str, key: str, benchmark: sightline.Benchmark, by: str = "name") -> None:
        self.url, self.key, self.by = url.rstrip("/"), key, by
        ids = benchmark.corpus.pictures
        self.ids = {id_ if by == "path" else PurePosixPath(id_).name: id_ for id_ in ids}
        if len(self.ids) < len(ids):
            raise SystemExit("Two pictures of the benchmark have the same file name. Tell them apart with --by path.")

    def search(self, query: str, k: int) -> list[str]:
        found: list[str] = []
        page: int | None = 1
        while page is not None and len(found) < k:
            assets = self._ask({"query": query, "size": k, "page": page})["assets"]
            found += [id_ for item in assets["items"] if (id_ := self._id(item)) is not None]
            page = int(assets["nextPage"]) if assets.get("nextPage") else None
        return found[:k]

    def _id(self, item: dict[str, str]) -> str | None:
        if self.by == "name":
            return self.ids.get(item["originalFileName"])
        parts = item["originalPath"].split("/")
        ends = ("/".join(parts[at:]) for at in range(len(parts)))
        return next((end for end in ends if end in self.ids), None)

    def _ask(self, body: dict[str, object]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/api/search/smart",
            json.dumps(body).encode(),
            {"content-type": "application/json", "accept": "application/json", "x-api-key": self.key},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--out", required=True)
    parser.add_argument("--by", choices=("name", "path"), default="name")
    given = parser.parse_args()
    benchmark = sightline.load(given.benchmark, sightline.Benchmark)
    immich = Immich(os.environ["IMMICH_URL"], os.environ["IMMICH_API_KEY"], benchmark, given.by)
    print(sightline.run(benchmark, immich.search, out=given.out))


if __name__ == "__main__":
    main()
