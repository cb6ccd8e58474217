"""The pictures of a folder or another source, read into the workspace: what `scan` does."""

from __future__ import annotations

from sightline.calls.file_map import file_map
from sightline.calls.session import Session
from sightline.corpus.scan import ScanSummary, scan_folder
from sightline.io.files import PathLike


def scan(
    folder: PathLike,
    *,
    rights: PathLike | None = None,
    metadata: PathLike | None = None,
    follow_links: bool | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> ScanSummary:
    """Read the pictures of a folder, or of another source, into the workspace's corpus; it is never written to.

    Only what changed since the last scan is read. Stopped at any moment, the next scan finishes the job.

    Parameters
    ----------
    folder:
        The folder with the pictures, sub-folders included; or an Apple Photos library, a zip of a Google Takeout (the
        others of the export beside it are taken, too), or an Immich server: immich:http://localhost:2283.
    rights:
        A rights map (JSON): license, DOI and data-set name by file, by longest prefix, or by default.
    metadata:
        Rows to merge into the pictures by `image_id` (.jsonl, .csv, .parquet), or a Lightroom catalogue (.lrcat).
    follow_links:
        Follow links that lead out of the folder; as at its last scan when not given, and at the first they are not.
    limit:
        Take only the first so many files.
    workspace, session:
        Where it works; `scan` of the session's configuration says how.

    Returns
    -------
    ScanSummary
        How many pictures the workspace holds, what was skipped and why, and what changed since the last scan.

    Examples
    --------
    >>> import sightline
    >>> sightline.scan("pictures", workspace="ws").pictures
    6
    """
    session = Session.of(session, workspace)
    return scan_folder(
        folder,
        session.workspace,
        session.config,
        rights=rights,
        metadata=metadata,
        follow_links=follow_links,
        limit=limit,
        local_only=session.calls.local_only,
        read_all=file_map(session),
    )
