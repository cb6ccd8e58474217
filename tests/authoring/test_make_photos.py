"""From a folder of photographs to worded queries with no key: `builtin/photos`, real weights, the command line."""

from __future__ import annotations

import json
import re
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from make_tools import rows
from sightline.cli.app import main
from sightline.models.photos.weights import CLASSIFIER, ENCODER

STAGES = ("pictures", "annotate", "plan", "query", "judge", "similarity", "audit", "assemble")
NAMES = (
    "chelsea.png", "coffee.png", "astronaut.png", "rocket.jpg", "motorcycle_left.png", "motorcycle_right.png",
    "camera.png", "page.png", "coins.png", "brick.png", "grass.png",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    skimage = pytest.importorskip("skimage")
    pytest.importorskip("onnxruntime")
    for file in (CLASSIFIER, ENCODER):
        try:
            distribution(file.package.name)
        except PackageNotFoundError:
            pytest.skip(f"{file.package.name} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIGHTLINE_WORKSPACE", raising=False)
    for name in ("photos", ".sightline"):
        (tmp_path / name).mkdir()
    for name in NAMES:
        shutil.copy(Path(skimage.__file__).parent / "data" / name, tmp_path / "photos" / name)
    return tmp_path / "photos"


def test_photographs_become_queries_with_no_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "sightline.toml").write_text("[plan]\nseeds = 8\npositives = 1\nhard = 2\nnear = 1\neasy = 1\n")
    stages = ("pictures", "annotate", "plan", "query")
    for stage in stages:
        main(["make", stage, *([str(folder)] if stage == "pictures" else []), "--local-only", "--json"])
        said = json.loads(capsys.readouterr().out)
        assert said["stage"] == stage
        assert said["usd"] == 0.0
    project = folder.parent / ".sightline" / "make" / "benchmark"
    notes = {row["image_id"]: row for row in rows(project / "annotations.jsonl")}
    assert set(notes) == set(NAMES)
    assert "cat" in notes["chelsea.png"]["tags"]
    assert not any(name.startswith("kind_of") or name == "tones" for note in notes.values() for name in note)
    assert all(note["by"] == "builtin/photos" for note in notes.values())
    queries = rows(project / "queries.jsonl")
    failed = rows(project / "queries_failed.jsonl")
    assert len(queries) + len(failed) == 8
    assert len(queries) >= 7, failed
    assert {query["by"] for query in queries} == {"templates"}
    twins = {"motorcycle_left.png", "motorcycle_right.png"}
    for row in rows(project / "query_plan.jsonl"):
        if row["seed_image_ids"][0] in twins:
            others = {one["image_id"]: one["tier"] for one in row["candidates"][1:]}
            assert not others.keys() & twins or {others[name] for name in others.keys() & twins} == {"positive"}
    before = {path.name: path.read_bytes() for path in project.glob("*.jsonl")}
    main(["make", str(folder), "--local-only", "--json"])
    again = json.loads(capsys.readouterr().out)["stages"]
    assert [stage["counts"].get("kept") for stage in again[:4]] == [None, 11, None, len(queries)]
    assert [stage["stage"] for stage in again[4:]] == ["judge", "similarity", "audit", "assemble", "summary"]
    assert all((project / name).read_bytes() == content for name, content in before.items())


@pytest.mark.slow
def test_the_example_in_the_documentation_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "make.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page.partition("## In Python")[2], re.DOTALL)
    (folder.parent / "sightline.toml").write_text("[plan]\nseeds = 4\npositives = 1\nhard = 2\nnear = 1\neasy = 1\n")
    exec(compile(code, "docs/make.md", "exec"), {})
    planned, _, after = capsys.readouterr().out.partition("nothing has been spent")
    assert [line.split()[0] for line in planned.splitlines()[:3]] == ["annotate", "query", "judge"]
    said = after.splitlines()[1:]
    assert [line.split()[0] for line in said[:9]] == [*STAGES, "summary"]
    assert said[9].startswith("query_")
    assert re.fullmatch(r"4 queries, \d+ warnings, 0.0 dollars", said[-1])
    assert not list(folder.glob(".sightline*"))


def test_what_the_judge_itself_wrote_wins_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "sightline.toml").write_text("[plan]\nseeds = 8\npositives = 1\nhard = 2\nnear = 1\neasy = 1\n")
    main(["make", str(folder), "--local-only", "--json"])
    bench = folder.parent / ".sightline" / "make" / "benchmark" / "benchmark"
    header = json.loads((bench / "benchmark.json").read_text())
    assert header["grade"] == "rehearsal" and header["card"]["provenance"]["judged_by"] == ["builtin/photos"]
    assert (bench / "baselines.json").is_file()
    seen = {"plain": [], "shown": ["--show-annotations"]}
    for name, flag in seen.items():
        main(["run", str(bench), "--system", "hybrid", "--out", name, *flag, "--local-only", "--json"])
        capsys.readouterr()
        main(["score", str(bench), name, "--json"])
        scored = json.loads(capsys.readouterr().out)
        found = [one["code"] for one in scored["warnings"]]
        assert scored["grade"] == "rehearsal" and "labels-unchecked" in found and "same-source" in found
    with pytest.raises(SystemExit) as refused:
        main(["compare", *seen])
    assert refused.value.code == 2 and "--rehearsal" in capsys.readouterr().err
    main(["compare", *seen, "--rehearsal", "--json"])
    compared = json.loads(capsys.readouterr().out)
    assert all(pair["no_win"] in ("same-source", "blind-not-beaten") for pair in compared["pairs"])
    assert {row["letters"] for row in compared["standings"]["ndcg@10"]} == {"a"}
    with pytest.raises(SystemExit) as refused:
        main(["make", "publish", "--dry-run", "--yes"])
    assert refused.value.code == 2 and "a rehearsal is not published" in capsys.readouterr().err
