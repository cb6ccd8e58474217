"""Published ids: no file tells how a picture is called here, unless somebody agrees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from make_publishing import WISH, make_project, picture_id, publish, published_id, rows
from sightline.authoring.dataset.folder import AgreementError, build_folder, published_pictures
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.dataset.ids import PublishedNames, rename_benchmark
from sightline.authoring.dataset.manifest import PublishTerms
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.benchmark.formats.parquet import read_table
from sightline.errors import UserError
from sightline.types import Benchmark

pytest.importorskip("pyarrow")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.mark.parametrize("layout", ["retrieval", "rows", "full"])
def test_no_published_file_tells_how_a_picture_is_called_here(project: Project, layout: str) -> None:
    """Names of files tell owners, times and cameras; also of pictures that are not published."""
    folder, _ = publish(project, PublishTerms(layout=layout))
    tables = [read_table(path) for path in sorted(folder.rglob("*.parquet"))]
    texts = [repr(row) for table in tables for row in table]
    texts += [path.read_text() for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".md", ".py", ".cff")]
    assert len(texts) > 20
    for number in range(24):
        assert not [text[:200] for text in texts if picture_id(number) in text]
    assert (project.folder / IDS).is_file()
    assert not list(folder.rglob(IDS))
    if layout == "retrieval":
        corpus = rows(folder, "corpus")
        assert all(row["id"] == row["image"]["path"] == f"{row['sha256'][:16]}.jpg" for row in corpus)
        shown = {row["id"] for row in corpus}
        assert shown == {row["picture"] for row in published_pictures(folder)}
        assert {row["picture"] for row in rows(folder, "annotations")} == shown
        assert "how the files were called is not told" in (folder / "README.md").read_text()


def test_ids_are_kept_only_when_somebody_agrees(project: Project) -> None:
    terms = PublishTerms(keep_ids=True)
    with pytest.raises(AgreementError, match=r'ids stay as they are, such as "[ab]/00') as asked:
        publish(project, terms, replace(WISH, agreed=False))
    assert "--keep-ids" in str(asked.value) and "--yes" in str(asked.value)
    folder, _ = publish(project, terms)
    assert picture_id(1) in {row["id"] for row in rows(folder, "corpus")}
    assert "kept on purpose" in (folder / "README.md").read_text()
    assert not (project.folder / IDS).exists()


def test_a_project_inside_the_published_folder_is_refused(project: Project) -> None:
    wish = replace(WISH, names=project.folder / "dataset" / "project" / IDS)
    with pytest.raises(UserError, match="would be published"):
        build_folder(read_project_benchmark(project), project.folder / "dataset", PublishTerms(), project.config, wish)


def test_copies_of_one_file_have_ids_of_their_own_and_keep_them(project: Project) -> None:
    root = project.config.paths.pictures
    assert root is not None
    (root / picture_id(5)).write_bytes((root / picture_id(1)).read_bytes())
    publish(project)
    first, second = published_id(project, 1), published_id(project, 5)
    assert first != second
    assert first[:16] == second[:16]
    publish(project, PublishTerms(keep_metadata=True))
    publish(project)
    assert (published_id(project, 1), published_id(project, 5)) == (first, second)


def test_every_place_of_a_benchmark_is_renamed() -> None:
    from sightline.types import Answer, Corpus, Group, Option, Picture, PictureRef, Scope, Step, Task

    seen = PictureRef("ann/1.jpg")
    task = Task(
        "q", "answer", ("what is", seen), (Option("A", (seen,)),), Scope("ann", ("trip",), ("ann/1.jpg",)),
        {"owner": ("ann",)}, {"de": (seen,)}, {"seeds": ["ann/1.jpg", "ann/9.jpg"], "scores": {"ann/1.jpg": 1.0}},
    )  # fmt: skip
    groups = (Group("ann", "owner", ("ann/1.jpg",)), Group("trip", "event", ("ann/1.jpg",), hidden=True))
    whole = Benchmark(
        "b", Corpus("b", {"ann/1.jpg": Picture("ann/1.jpg", "x.jpg")}, groups), {"q": task},
        {"q": Answer("red", steps=(Step("think", "look", (seen,)),))}, card={"worst": ["ann/1.jpg"], "n": "ann"},
    )  # fmt: skip
    names = PublishedNames({"ann/1.jpg": "0.jpg"}, {"ann": "owner-1", "trip": "event-1"})
    found = rename_benchmark(whole, names, ("ann/1.jpg", "ann/9.jpg"))
    assert "ann/" not in repr(found)
    assert found.tasks["q"].scope == Scope("owner-1", ("event-1",), ("0.jpg",))
    assert found.tasks["q"].extra == {"seeds": ["0.jpg"], "scores": {"0.jpg": 1.0}}
    assert found.corpus.groups[1] == Group("event-1", "event", ("0.jpg",), hidden=True)
    assert found.tasks["q"].labels == {"owner": ("owner-1",)}
    assert found.card == {"worst": ["0.jpg"], "n": "ann"}
