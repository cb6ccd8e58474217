"""`sightline scan DIR`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.cli.options import Common

if TYPE_CHECKING:
    from sightline.corpus.scan import ScanSummary


def scan(
    directory: Path,
    /,
    *,
    rights: Path | None = None,
    metadata: Path | None = None,
    owner_pattern: str | None = None,
    common: Common = Common(),
) -> None:
    """Read the pictures of a folder into a corpus. Nothing is ever written to the folder.

    Parameters
    ----------
    directory:
        The folder with the pictures; sub-folders are included.
    rights:
        A rights map (JSON): licence, DOI and data-set name by file, by longest prefix, or by default.
    metadata:
        Rows to merge into the pictures by `image_id`: .jsonl, .csv or .parquet.
    owner_pattern:
        Where the owner's name stands in a path, such as "{owner}/*".
    """
    from sightline.pictures import scan as scan_folder

    session = common.session(overrides={"scan.owner_pattern": owner_pattern})
    paths = session.config.paths
    summary = scan_folder(
        directory,
        rights=rights or paths.rights,
        metadata=metadata or paths.metadata,
        limit=common.limit,
        session=session,
    )
    if common.json:
        common.print_json(to_json(summary))
    else:
        common.console.print(to_text(summary), markup=False, soft_wrap=True)


def to_json(summary: ScanSummary) -> dict[str, object]:
    """The object that CONTRACTS promise, and what changed since the last scan."""
    fields = asdict(summary)
    return {name: fields[name] for name in fields if name not in ("first_year", "last_year", "skipped_here")}


def to_text(summary: ScanSummary) -> str:
    """What was found, on a few lines."""
    parts = [_count(summary.pictures, "picture")]
    if summary.first_year is not None:
        one = summary.first_year == summary.last_year
        parts.append(f"{summary.first_year}" if one else f"{summary.first_year}–{summary.last_year}")
    parts += [_count(summary.owners, "owner")] if summary.owners else []
    parts += [_count(summary.events, "event"), _count(summary.bursts, "burst"), _count(summary.duplicates, "duplicate")]
    lines = ["  " + " · ".join(parts)]
    for what, counts in (("skipped", summary.skipped), ("noted", summary.warnings)):
        if counts:
            listed = ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items(), key=lambda c: -c[1]))
            lines.append(f"  {sum(counts.values()):,} {what}: {listed}")
    changes = {name: count for name, count in asdict(summary.changes).items() if count}
    lines.append("  " + (", ".join(f"{count:,} {name}" for name, count in changes.items()) or "nothing changed"))
    lines[-1] += f" in {summary.seconds:.1f} s"
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
