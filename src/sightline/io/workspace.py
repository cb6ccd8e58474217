"""Which workspace a command or a session works in when none is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shlex import quote

FOLDER_NAME = ".sightline"
"""A folder of this name is the workspace of everything below the folder that holds it."""


def default_workspace() -> Path:
    """`$SIGHTLINE_WORKSPACE`, else the nearest `.sightline` at or above the working directory, else the user's own."""
    if named := os.environ.get("SIGHTLINE_WORKSPACE"):
        return Path(named).expanduser()
    if Path(FOLDER_NAME).is_dir():
        return Path(FOLDER_NAME)
    above = (folder / FOLDER_NAME for folder in Path.cwd().parents)
    return next((folder for folder in above if folder.is_dir()), None) or data_folder() / "sightline"


def workspace_option(workspace: Path | None) -> str:
    """What a suggested command needs to work in this workspace: nothing where it is the default."""
    if workspace is None or workspace.absolute() == default_workspace().absolute():
        return ""
    return f" --workspace {quote(str(workspace))}"


def data_folder() -> Path:
    """Where the platform keeps a user's data; `$XDG_DATA_HOME` is respected on all of them."""
    if named := os.environ.get("XDG_DATA_HOME"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ".local" / "share"
