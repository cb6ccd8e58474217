"""`sightline scan DIR|SOURCE`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common, EngineOption, described_by
from sightline.pictures import scan as scan_folder


@described_by(scan_folder)
def scan(
    source: str,
    /,
    *,
    rights: Path | None = None,
    metadata: Path | None = None,
    owner_pattern: str | None = None,
    follow_links: bool | None = None,
    engine: EngineOption = "local",
    common: Common = Common(),
) -> None:
    """Read the pictures of a folder, or of another source, into a corpus. Nothing is ever written there.

    Parameters
    ----------
    source:
        The folder with the pictures, sub-folders included; or an Apple Photos library, a zip of a Google Takeout, or
        an Immich server (immich:http://localhost:2283, with its key in $IMMICH_API_KEY).
    owner_pattern:
        Where the owner's name stands in a path, such as "{owner}/*".
    follow_links:
        Follow links that lead out of the folder; as at its last scan when not given, and at the first they are not.
    """
    session = common.session(engine=engine, overrides={"scan.owner_pattern": owner_pattern})
    paths = session.config.paths
    summary = scan_folder(
        source,
        rights=rights or paths.rights,
        metadata=metadata or paths.metadata,
        follow_links=follow_links,
        limit=common.limit,
        session=session,
    )
    common.show(summary)
