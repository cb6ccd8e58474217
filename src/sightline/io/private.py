"""Folders and files that only their owner can look into: what a workspace holds is nobody else's business."""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(path: Path) -> Path:
    """Make a folder, and those above it that are missing, for this user alone (0700); one that is there stays as is."""
    for folder in reversed((path, *path.parents)):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


def private_file(path: Path) -> None:
    """Make an empty file for this user alone (0600), unless there is one."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
