"""Nothing of somebody's is lost when a benchmark is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from sightline.benchmark.folder import check_place, read_benchmark, write_benchmark
from sightline.errors import UserError
from sightline.types import Benchmark, Corpus, Picture, Review, Task
from sightline.types.task_table import Tasks

ONE = Benchmark("one", Corpus("one", {"a": Picture("a", "a.png")}), {"t": Task("t", "rank", ("a boat",))}, {})
LOOKED = Review("t", "Ana", "accept", datetime(2026, 11, 1), "a")


def test_the_next_version_takes_the_place_of_the_last(tmp_path: Path) -> None:
    write_benchmark(ONE, tmp_path / "b")
    write_benchmark(replace(ONE, version="2"), tmp_path / "b")
    assert read_benchmark(tmp_path / "b").version == "2"


def test_another_benchmark_is_left_as_it_is(tmp_path: Path) -> None:
    write_benchmark(ONE, tmp_path / "b")
    with pytest.raises(UserError, match='holds the benchmark "one", not "two"'):
        write_benchmark(replace(ONE, name="two"), tmp_path / "b")
    assert read_benchmark(tmp_path / "b").name == "one"
    write_benchmark(replace(ONE, name="two"), tmp_path / "b", force=True)
    assert read_benchmark(tmp_path / "b").name == "two"


def test_one_of_the_same_name_with_other_tasks_is_not_added_to(tmp_path: Path) -> None:
    """Such as the training and the test that one tool made."""
    other = Task("u", "rank", ("a tree",))
    write_benchmark(replace(ONE, tasks=Tasks({**ONE.tasks, "u": other})), tmp_path / "b")
    with pytest.raises(UserError, match=r'holds another benchmark "one": 1 task of it, such as "u", would be lost'):
        check_place(tmp_path / "b", "one", tasks=ONE.tasks)
    check_place(tmp_path / "b", "one", tasks={**ONE.tasks, "u": other, "v": other})
    check_place(tmp_path / "b", "one")


def test_the_same_ids_with_other_words_are_another_benchmark(tmp_path: Path) -> None:
    """Every project that is made calls its queries query_001, query_002 and so on."""
    tasks = {id_: Task(id_, "rank", (f"a boat {id_}",)) for id_ in "tu"}
    write_benchmark(replace(ONE, tasks=Tasks(tasks)), tmp_path / "b")
    mended = replace(tasks["t"], prompt=("a ship",))
    check_place(tmp_path / "b", "one", tasks={**tasks, "t": mended})
    others = {"t": mended, "u": replace(tasks["u"], prompt=("a tree",))}
    with pytest.raises(UserError, match='another benchmark "one": 2 tasks of it, such as "t" with other words, would'):
        check_place(tmp_path / "b", "one", tasks=others)
    write_benchmark(replace(ONE, tasks=Tasks({})), tmp_path / "b")
    check_place(tmp_path / "b", "one", tasks=others)


def test_other_tasks_of_the_same_pictures_are_its_next_version(tmp_path: Path) -> None:
    def of(id_: str, sha256: str | None) -> dict[str, Picture]:
        return {id_: Picture(id_, "a.png", sha256=sha256), "new": Picture("new", "new.png", sha256="ee" * 32)}

    others = {"u": Task("u", "rank", ("a tree",))}
    known, unknown = tmp_path / "known", tmp_path / "unknown"
    write_benchmark(replace(ONE, corpus=Corpus("one", {"a": Picture("a", "a.png", sha256="ab" * 32)})), known)
    write_benchmark(ONE, unknown)
    for place, pictures in (
        (known, of("a", "ab" * 32)),
        (known, of("a", None)),
        (unknown, of("a", "ab" * 32)),
        (unknown, of("a", None)),
    ):
        check_place(place, "one", tasks=others, pictures=pictures)
    for place, pictures in (
        (known, of("a", "cd" * 32)),
        (known, of("b", "ab" * 32)),
        (unknown, of("b", None)),
        (known, {}),
    ):
        with pytest.raises(UserError, match='another benchmark "one": 1 task of it'):
            check_place(place, "one", tasks=others, pictures=pictures)
        check_place(place, "one", tasks=ONE.tasks, pictures=pictures)


def test_decisions_are_told_apart_by_who_made_them_and_when(tmp_path: Path) -> None:
    """As many others are not the same ones; half a line was never written; one that can't be read may be somebody's."""
    later = replace(LOOKED, when=datetime(2026, 11, 2))
    write_benchmark(replace(ONE, reviews=(LOOKED, LOOKED)), tmp_path / "b")
    check_place(tmp_path / "b", "one", (replace(LOOKED, decision="relevant"), LOOKED, later))
    for kept in ((LOOKED,), (LOOKED, later), (LOOKED, replace(LOOKED, person="Bo"))):
        with pytest.raises(UserError, match="1 decision would be lost"):
            check_place(tmp_path / "b", "one", kept)
    reviews = tmp_path / "b" / "reviews.jsonl"
    reviews.write_bytes(reviews.read_bytes() + b'{"task": "t", "per')
    check_place(tmp_path / "b", "one", (LOOKED, LOOKED))
    reviews.write_bytes(reviews.read_bytes() + b'son": "Bo"}\n')
    with pytest.raises(UserError, match="1 decision would be lost"):
        check_place(tmp_path / "b", "one", (LOOKED, LOOKED))


def test_what_people_said_is_not_written_over(tmp_path: Path) -> None:
    write_benchmark(replace(ONE, reviews=(LOOKED,)), tmp_path / "b")
    with pytest.raises(UserError, match="1 decision would be lost"):
        write_benchmark(ONE, tmp_path / "b")
    later = replace(LOOKED, person="Bo")
    write_benchmark(replace(ONE, reviews=(LOOKED, later)), tmp_path / "b")
    assert read_benchmark(tmp_path / "b").reviews == (LOOKED, later)


@pytest.mark.parametrize("content", ["file", "folder"])
def test_other_things_are_left_as_they_are(tmp_path: Path, content: str) -> None:
    place = tmp_path / "b"
    if content == "file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "note.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other things"):
        check_place(place, "one")
    check_place(tmp_path / "new", "one")


def test_files_to_copy_appear_with_the_benchmark_or_neither_does(tmp_path: Path) -> None:
    web = tmp_path / "life.json"
    web.write_bytes(b"one\ntwo")
    write_benchmark(ONE, tmp_path / "b", copied={"world/life.json": web})
    assert (tmp_path / "b" / "world" / "life.json").read_bytes() == b"one\ntwo"
    assert read_benchmark(tmp_path / "b").tasks == ONE.tasks
    with pytest.raises(UserError, match=r"gone\.json can't be read"):
        write_benchmark(replace(ONE, version="2"), tmp_path / "b", copied={"gone.json": tmp_path / "gone.json"})
    assert read_benchmark(tmp_path / "b").version == ONE.version
    with pytest.raises(UserError, match=r"gone\.json can't be read"):
        write_benchmark(ONE, tmp_path / "new", copied={"gone.json": tmp_path / "gone.json"})
    assert {entry.name for entry in tmp_path.iterdir()} == {"b", "life.json"}
