"""Python in documents, notebooks and docstrings: it parses, every name that is imported of ours is there, types fit.

Run by `make check`. Nothing of it is run but its imports of `sightline` and `sightline_world`. What is public is used
by its public name. mypy and pyright read notebooks, and the pages of `TYPED`, as they read files.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
OURS = ("sightline", "sightline_world")
TYPED = ("README.md", "docs/compared.md", "docs/python-objects.md")
"""Pages whose blocks are one program from first to last, but those that show another library."""
_OTHERS = re.compile(r"(?:import|from) (?:inspect_ai|mteb|ranx)\b")
_BLOCK = re.compile(r"^(?P<indent> *)```(?:python|py|pycon)\n(?P<code>.*?)^ *```", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^\s*(?:>>> )?(from (?:sightline|sightline_world)\b[\w.]* import [\w, ]+)", re.MULTILINE)


class Snippet(NamedTuple):
    place: str
    code: str


def snippets() -> Iterator[Snippet]:
    """Every block of the documents, every cell of the notebooks, and the code of every docstring."""
    for path in _files("md"):
        text = path.read_text("utf-8")
        for found in _BLOCK.finditer(text):
            yield Snippet(_place(path, text.count("\n", 0, found.start()) + 2), _without_prompts(found["code"]))
    for path in _files("ipynb"):
        for number, code in _cells(path):
            yield Snippet(f"{path.relative_to(ROOT)}: cell {number}", code)
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
    """What documents there are: pages and notebooks of the repository, or modules of ours."""
    folders = ("docs", "src", "packages", "benchmarks", "training", "examples")
    if suffix == "md":
        yield from sorted(ROOT.glob("*.md"))
    for folder in ("src", "packages") if suffix == "py" else folders:
        yield from sorted((ROOT / folder).rglob(f"*.{suffix}"))


def _cells(notebook: Path) -> Iterator[tuple[int, str]]:
    """The code of a notebook, with the numbers of its cells."""
    for number, cell in enumerate(json.loads(notebook.read_text("utf-8"))["cells"], 1):
        if cell["cell_type"] == "code":
            yield number, "".join(cell["source"])


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
            if problem := _public(node):
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


def _public(node: ast.ImportFrom) -> str | None:
    """Where all that is imported from inside has a public name."""
    names, ours = [each.name for each in node.names], importlib.import_module("sightline")
    if node.module == "sightline" or not set(names) <= set(ours.__all__):
        return None
    inside = importlib.import_module(node.module or "")
    if any(getattr(ours, name) is not getattr(inside, name) for name in names):
        return None
    return f"write `from sightline import {', '.join(names)}`, not `from {node.module} import …`"


def programs() -> Iterator[tuple[str, str]]:
    """Pages and notebooks as programs, by name; in that of a page every line has the number that it has in the page."""
    for page in TYPED:
        text = (ROOT / page).read_text("utf-8")
        lines = ["", *("" for _ in text.splitlines())]
        for found in _BLOCK.finditer(text):
            if _OTHERS.match(found["code"]):
                continue
            at = text.count("\n", 0, found.start()) + 1
            code = _without_prompts(found["code"]).splitlines()
            lines[at : at + len(code)] = code
        yield re.sub(r"\W", "_", page), "\n".join(lines)
    for notebook in _files("ipynb"):
        cells = (f"# cell {number}\n{code}" for number, code in _cells(notebook))
        yield re.sub(r"\W", "_", f"notebook {notebook.stem}"), "\n\n".join(cells)


def check_types() -> int:
    """Let mypy and pyright read the programs, and say on stdout what is wrong; how many of the two complain."""
    # Others' packages have no types, and the last line of a cell is a value.
    off = ("reportMissingModuleSource", "reportMissingTypeStubs", "reportUnusedExpression")
    mode = f"# pyright: standard, {', '.join(f'{rule}=false' for rule in off)}\n"
    with tempfile.TemporaryDirectory() as folder:
        for name, code in programs():
            (Path(folder) / f"{name}.py").write_text(mode + code.removeprefix("\n"), "utf-8")
        files = sorted(map(str, Path(folder).glob("*.py")))
        checkers = (["mypy"], ["basedpyright", "--pythonpath", sys.executable])
        calls = ([sys.executable, "-m", *checker, *files] for checker in checkers)
        return sum(subprocess.run(call, cwd=ROOT, check=False).returncode != 0 for call in calls)


def main() -> int:
    checked = list(snippets())
    wrong = [fault for snippet in checked for fault in faults(snippet)]
    for fault in wrong:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"{len(checked)} pieces of Python in documents and docstrings, {len(wrong)} faults\n")
    sys.stdout.flush()
    return 1 if check_types() + len(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
