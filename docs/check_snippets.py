"""Python in documents and docstrings: every block parses, and every name that is imported of ours is there.

Run by `make check`. Nothing of a block is run but its imports of `sightline` and `sightline_world`.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
OURS = ("sightline", "sightline_world")
_BLOCK = re.compile(r"^(?P<indent> *)```(?:python|py|pycon)\n(?P<code>.*?)^ *```", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^\s*(?:>>> )?(from (?:sightline|sightline_world)\b[\w.]* import [\w, ]+)", re.MULTILINE)


class Snippet(NamedTuple):
    place: str
    code: str


def snippets() -> Iterator[Snippet]:
    """Every block of the documents, and the code of every docstring."""
    for path in _files("md"):
        text = path.read_text("utf-8")
        for found in _BLOCK.finditer(text):
            yield Snippet(_place(path, text.count("\n", 0, found.start()) + 2), _without_prompts(found["code"]))
    for path in _files("py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _said(path, ast.get_docstring(node) or "", getattr(node, "lineno", 1))


def _said(path: Path, text: str, line: int) -> Iterator[Snippet]:
    """The imports that a docstring shows, and its blocks."""
    for found in _BLOCK.finditer(text):
        yield Snippet(_place(path, line), _without_prompts(found["code"]))
    for found in _LINE.finditer(_BLOCK.sub("", text)):
        yield Snippet(_place(path, line), found[1])


def _files(suffix: str) -> Iterator[Path]:
    """What documents there are: pages of the repository, or modules of ours."""
    folders = ("docs", "src", "packages", "benchmarks", "training", "examples")
    if suffix == "md":
        yield from sorted(ROOT.glob("*.md"))
    for folder in folders if suffix == "md" else ("src", "packages"):
        yield from sorted((ROOT / folder).rglob(f"*.{suffix}"))


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def _without_prompts(code: str) -> str:
    """Code as it would stand in a file, whether it is shown as one or as a session."""
    if code.lstrip().startswith(">>>"):
        return "".join(example.source for example in doctest.DocTestParser().get_examples(dedent(code)))
    return dedent(code)


def faults(snippet: Snippet) -> Iterator[str]:
    """What is wrong with a piece of code."""
    try:
        # As in a notebook, where `await` needs no function.
        tree = compile(snippet.code, snippet.place, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        yield f"{snippet.place}: does not parse: {error.msg} (line {error.lineno} of it)"
        return
    assert isinstance(tree, ast.Module)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            for name in node.names:
                if problem := _missing(node.module or "", name.name):
                    yield f"{snippet.place}: {problem}"
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] in OURS and (problem := _missing(name.name)):
                    yield f"{snippet.place}: {problem}"


def _missing(module: str, name: str | None = None) -> str | None:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        # Others' packages may be missing, as torch is where this is run.
        return f"there is no module {missing}" if missing.split(".")[0] in OURS else None
    if name in (None, "*") or hasattr(found, str(name)):
        return None
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return f"{module} has no {name}"
    return None


def main() -> int:
    checked = list(snippets())
    wrong = [fault for snippet in checked for fault in faults(snippet)]
    for fault in wrong:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"{len(checked)} pieces of Python in documents and docstrings, {len(wrong)} faults\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
