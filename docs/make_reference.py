"""Write docs/commands.md, docs/api.md and the tables of docs/configuration.md from the code itself.

`--check` only compares.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from configuration_tables import fill

import sightline
from sightline.cli.app import build

DOCS = Path(__file__).parent
HEAD = "<!-- Written by docs/make_reference.py; do not edit. -->\n\n"
API = """# Python API

`import sightline` gives a function for every command, and the classes that they take and return. A command prints
what its function returns: `print(result)` is the text, and `result.to_json()` is what `--json` prints. A result with
rows can be iterated over, and has `records()`, `to_pandas()` and `to_polars()`. A notebook shows it as a table, with
pictures where it has some. Paths are strings or `Path` objects, and may begin with `~`.

Wrong input raises `sightline.UserError`: its message says what is wrong, and `fix` what to do.

Notebooks that use it are in [examples/notebooks](https://github.com/sightline/sightline/blob/main/examples/notebooks/README.md).
"""
GROUPS = {
    "Pictures": "scan watch index search ask embed",
    "Benchmarks": "make mine mine_questions import_files export_files load validate view",
    "Runs and scores": "run score score_trec compare assess power report leaderboard read_trajectory",
    "Reasoning data and training": "think steps check_steps difficulty split ablate curriculum train",
    "State and cost": "Session dry_run",
    "Your own data and functions": "Benchmark Run FunctionSystem FunctionEmbedder",
    "Statistics and answers": "estimate parse_choice match_answer",
}
REST = "More classes"
METHODS = {"Benchmark": ["from_tables"], "Run": ["from_rankings"]}
"""Methods that are documented as the functions are."""
_SECTION = re.compile(r"^(Parameters|Returns|Examples)\n-+\n", re.MULTILINE)


def pages() -> dict[Path, str]:
    """What each generated page should say."""
    configuration, commands = DOCS / "configuration.md", build().generate_docs(recursive=True)
    return {
        # Anchors as GitHub and the site make them: nothing is joined.
        DOCS / "commands.md": HEAD + commands.rstrip().replace("(#sightline-install-", "(#sightline---install-") + "\n",
        DOCS / "api.md": HEAD + api_page(),
        configuration: fill(configuration.read_text("utf-8")),
    }


def api_page() -> str:
    """The reference of all that is public, from signatures and docstrings."""
    groups = {title: names.split() for title, names in GROUPS.items()}
    placed = {name for names in groups.values() for name in names}
    groups[REST] = [name for name in sightline.__all__ if name not in placed and not name.startswith("_")]
    links = [f"- {title}: {', '.join(map(_link, names))}" for title, names in groups.items()]
    parts = [API, "\n".join(links)]
    for title, names in groups.items():
        parts.append(f"## {title}")
        for name in names:
            parts += [
                f"### {_heading(name)}",
                *_described(name, getattr(sightline, name), short=title == REST),
            ]
            parts += [text for method in METHODS.get(name, ()) for text in _method(name, method)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _heading(name: str) -> str:
    """Functions and classes have headings of their own: `run` is not `Run`."""
    return f"class {name}" if inspect.isclass(getattr(sightline, name)) else name


def _link(name: str) -> str:
    return f"[`{name}`](#{_heading(name).lower().replace(' ', '-')})"


def _method(owner: str, name: str) -> list[str]:
    return [f"#### {owner}.{name}", *_described(f"{owner}.{name}", getattr(getattr(sightline, owner), name))]


def _described(name: str, thing: Any, *, short: bool = False) -> Iterator[str]:
    """How it is called, what it does, takes and gives, and an example; only what it is, where it is a plain class."""
    text, *sections = _SECTION.split(inspect.getdoc(thing) or "")
    said = dict(zip(sections[::2], sections[1::2], strict=True))
    if "Parameters" in said:
        yield f"```text\n{_call(name, thing)}\n```"
    yield text
    if short:
        return
    if "Parameters" in said:
        yield "\n".join(_parameters(said["Parameters"], inspect.signature(thing)))
    if "Returns" in said:
        kind, _, what = said["Returns"].strip().partition("\n")
        yield f"Returns `{kind}`: {_joined(what)}"
    if "Examples" in said:
        yield f"```pycon\n{said['Examples'].strip()}\n```"


def _call(name: str, thing: Any) -> str:
    """`sightline.score(benchmark, run, …)`, without types, in lines that fit a page."""
    signature = inspect.signature(thing)
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    call = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    lines, width = [f"sightline.{name}("], 100
    for part in re.split(r"(?<=,) ", call.removeprefix("(")):
        if len(lines[-1]) + len(part) > width:
            lines.append("   ")
        lines[-1] += part if lines[-1].endswith("(") else f" {part}"
    return "\n".join(lines)


def _parameters(section: str, signature: inspect.Signature) -> Iterator[str]:
    """One item for each entry: names, type and what it means."""
    for entry in re.split(r"\n(?=\S)", section.strip()):
        head, _, text = entry.partition("\n")
        names = [name.strip(" :*") for name in head.split(",")]
        kinds = ", ".join(f"`{str(signature.parameters[name].annotation).strip(chr(39))}`" for name in names)
        yield f"- **{', '.join(names)}** ({kinds}): {_joined(text)}"


def _joined(text: str) -> str:
    return " ".join(text.split())


def stale() -> list[Path]:
    """Pages that say something else."""
    return [path for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text]


def main() -> None:
    for path in stale():
        if "--check" in sys.argv:
            sys.exit(f"{path} is not up to date: run make docs")
        path.write_text(pages()[path], "utf-8")


if __name__ == "__main__":
    main()
