"""Files and folders: written whole or not at all, JSONL, locks, SQLite, checksums, temporary files."""

from sightline.io.files import PathLike, sha256_of, whole_folder, write_whole
from sightline.io.jsonl import (
    CutOffError,
    LineError,
    dump,
    parse_line,
    read_json,
    read_jsonl,
    read_lines,
    write_json,
    write_jsonl,
    write_lines,
)

__all__ = [
    "CutOffError",
    "LineError",
    "PathLike",
    "dump",
    "parse_line",
    "read_json",
    "read_jsonl",
    "read_lines",
    "sha256_of",
    "whole_folder",
    "write_json",
    "write_jsonl",
    "write_lines",
    "write_whole",
]
