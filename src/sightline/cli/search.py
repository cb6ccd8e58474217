"""`sightline search QUERY [--in DIR]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.cli.common import Common

if TYPE_CHECKING:
    from sightline.search import Results
    from sightline.types import Picture


def search(
    query: str,
    /,
    *,
    in_: Annotated[Path | None, Parameter(name="--in")] = None,
    k: Annotated[int, Parameter(name=["-k", "--top"])] = 10,
    embedder: str | None = None,
    common: Common = Common(),
) -> None:
    """Find pictures by words. The first time, they are read and embedded; after that, only what is new.

    Parameters
    ----------
    query:
        What the picture shows, such as "a dog running on the beach".
    in_:
        The folder to search, sub-folders included; all that the workspace knows when not given.
    k:
        How many pictures to show.
    embedder:
        Who compares words and pictures; the configured one, else photos, when not given.
    """
    from sightline.search.find import search as find

    found = find(
        query,
        in_,
        k=k,
        embedder=embedder,
        workspace=common.workspace_path,
        config=common.settings(),
        limit=common.limit,
        local_only=common.local_only,
    )
    if found.query_was_cut:
        common.warn(["the query is longer than the embedder reads; its end was not looked at"])
    if found.left_out:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
        common.warn([f"pictures that could not be embedded, and are not searched: {listed}"])
    if common.json:
        common.print_json(found.to_json())
    else:
        common.console.print(to_text(found), markup=False, soft_wrap=True)


def to_text(found: Results) -> str:
    """A line for each hit: score, id, time, place."""
    if not found.hits:
        return "  no picture to search"
    rows = [(f"{hit.score:.3f}", hit.picture.id, *_when_and_where(hit.picture)) for hit in found.hits]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(f"  {line}".rstrip() for line in lines)


def _when_and_where(picture: Picture) -> tuple[str, str]:
    when = "" if picture.taken_at is None else picture.taken_at.strftime("%Y-%m-%d %H:%M")
    if picture.address:
        return when, picture.address
    return when, "" if picture.lat is None or picture.lon is None else f"{picture.lat:.4f}, {picture.lon:.4f}"
