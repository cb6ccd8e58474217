"""`sightline watch DIR`."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

from sightline.cli.options import Common, described_by
from sightline.folder_watch import watch as watch_folder


@described_by(watch_folder)
def watch(directory: Path, /, *, poll: float | None = None, common: Common = Common()) -> None:
    """Take in new, changed, moved and deleted pictures of a folder as they arrive. Stop it with Ctrl-C.

    One line is printed for each batch of changes; with --json it is a JSON object.

    Parameters
    ----------
    directory:
        The folder with the pictures; sub-folders are included.
    """
    import orjson

    common.ignores_limit()
    batches = watch_folder(directory, poll=poll, session=common.session())
    signal.signal(signal.SIGTERM, _stop)
    common.note([f"watching {directory}; stop with Ctrl-C"])
    with suppress(KeyboardInterrupt):
        for batch in batches:
            if common.json:
                sys.stdout.write(orjson.dumps(batch.to_json()).decode() + "\n")
            else:
                common.print(str(batch))
            sys.stdout.flush()


def _stop(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
