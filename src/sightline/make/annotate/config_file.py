"""A proposed taxonomy, written into the user's own configuration file without touching what it says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from sightline.config.files import DEFAULT
from sightline.io import write_whole
from sightline.models.built_in import Taxonomy

_HEADER = re.compile(r"^\s*\[\s*annotate\s*\][^\n]*\n?", re.MULTILINE)
_NOTE = "# Proposed from a sample of the pictures: edit it, and run `sightline make annotate` again."


def write_taxonomy(taxonomy: Taxonomy, min_tags: int, config_path: Path | None) -> Path:
    """Add it to the TOML file, or to a new `sightline.toml` where there is none; the path that it went to."""
    path = config_path if config_path is not None and config_path.suffix != ".json" else DEFAULT
    before = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    write_whole(path, with_taxonomy(before, taxonomy, min_tags).encode())
    return path


def with_taxonomy(text: str, taxonomy: Taxonomy, min_tags: int) -> str:
    """The text of a TOML file with the taxonomy in it; what it sets already stays as it is."""
    said = tomllib.loads(text).get("annotate", {})
    lines = {"flags": _list(taxonomy.flags), "vocabulary": _list(taxonomy.vocabulary), "min_tags": str(min_tags)}
    keys = "".join(f"{key} = {value}\n" for key, value in lines.items() if key not in said and value != "[]")
    header = _HEADER.search(text)
    text = text if not text or text.endswith("\n") else f"{text}\n"
    if header is not None:
        head = header[0] if header[0].endswith("\n") else f"{header[0]}\n"
        text = f"{text[: header.start()]}{head}{_NOTE}\n{keys}{text[header.end() :]}"
    else:
        text = f"{text}\n{_NOTE}\n[annotate]\n{keys}".lstrip("\n")
    if not taxonomy.facets or "taxonomy" in said:
        return text
    facets = "".join(f"{json.dumps(name)} = {_list(values)}\n" for name, values in taxonomy.facets.items())
    return f"{text}\n[annotate.taxonomy]\n{facets}"


def _list(values: tuple[str, ...]) -> str:
    """As TOML, whose strings are those of JSON."""
    return json.dumps(list(values), ensure_ascii=False)
