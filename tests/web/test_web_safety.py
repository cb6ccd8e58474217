"""Decisions land where they were meant, once; one broken or locked benchmark is in nobody else's way."""

from __future__ import annotations

import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from search_tools import Colours
from sightline.authoring import review as review_module
from sightline.benchmark import review_decisions
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.types import Benchmark, Candidate, Corpus, Picture, Relevance, Task
from sightline.web.library import FolderNames, Library, LoadedBenchmark
from sightline.web.reviews import ReviewLog, last_of, mark_of
from sightline.web.server import open_app
from web_samples import client

PICTURES = tuple(f"p{number}" for number in range(6))


def benchmark(name: str = "small", relevant: int = 3) -> Benchmark:
    tasks = [f"t{number}" for number in range(3)]
    return Benchmark(
        name,
        Corpus("small", {id_: Picture(id_, f"https://example.org/{id_}.jpg") for id_ in PICTURES}),
        {task: Task(task, "rank", (f"query {task}",)) for task in tasks},
        {task: Relevance({id_: int(at < relevant) for at, id_ in enumerate(PICTURES)}) for task in tasks},
        candidates=tuple(Candidate(task, id_, "hard") for task in tasks for id_ in PICTURES),
    )


def opened(*roots: Path, person: str = "ana") -> TestClient:
    found = client(open_app(None, roots, port=1, embedder=Colours()))
    found.cookies.set("sightline-person", person)
    return found


def fields_of(page: str, action: str) -> dict[str, str]:
    """What the first form of a page with this address would send."""
    form = page.split(f'action="{action}"', 1)[1].split("</form>")[0]
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


def lines(folder: Path) -> list[dict[str, Any]]:
    path = folder / "reviews.jsonl"
    return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def post(app: TestClient, path: str, fields: Mapping[str, str]) -> Any:
    return app.post(path, data=dict(fields), follow_redirects=False)


# -- 13b: names


def test_a_folder_keeps_its_name_and_no_other_gets_it(tmp_path: Path) -> None:
    names = FolderNames()
    first, second = tmp_path / "z" / "benchmark", tmp_path / "a" / "benchmark"
    assert names.of("benchmark", [first]) == {"benchmark": first}
    assert names.of("benchmark", [second, first]) == {"a-benchmark": second, "benchmark": first}
    assert names.of("benchmark", [second]) == {"a-benchmark": second}
    assert names.of("run", [second]) == {"benchmark": second}  # Runs have addresses of their own.


def test_a_decision_stays_with_the_benchmark_that_its_page_showed(tmp_path: Path) -> None:
    meant, other = tmp_path / "z" / "benchmark", tmp_path / "a" / "benchmark"
    write_benchmark(benchmark(), meant)
    app = opened(tmp_path)
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")
    shutil.copytree(meant, other)
    assert app.get("/bench").text.count("/review/") == 2
    assert post(app, "/review/benchmark", fields | {"decision": "relevant"}).status_code == 303
    assert len(lines(meant)) == 1 and lines(other) == []


def test_a_form_that_is_sent_twice_is_one_decision(tmp_path: Path) -> None:
    folder = tmp_path / "benchmark"
    write_benchmark(benchmark(), folder)
    app = opened(tmp_path)
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")
    for _ in range(2):
        assert post(app, "/review/benchmark", fields | {"decision": "relevant"}).status_code == 303
    assert len(lines(folder)) == 1
    assert post(app, "/review/benchmark", fields | {"decision": "not relevant"}).status_code == 303
    assert len(lines(folder)) == 2


def test_a_page_of_labels_that_have_changed_saves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "benchmark"
    write_benchmark(benchmark(), folder)
    app = opened(tmp_path)
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")
    write_benchmark(benchmark(relevant=1), folder)
    reply = post(app, "/review/benchmark", fields | {"decision": "accept"})
    assert reply.status_code == 409 and "has changed" in reply.text and lines(folder) == []


# -- 4: undo


def test_an_undo_takes_back_what_its_page_named_or_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "benchmark"
    write_benchmark(benchmark(), folder)
    app = opened(tmp_path)

    def decide() -> str:
        page = app.get("/review/benchmark").text
        post(app, "/review/benchmark", fields_of(page, "/review/benchmark") | {"decision": "relevant"})
        return app.get("/review/benchmark").text

    stale = fields_of(decide(), "/review/benchmark/undo")
    page = decide()  # Another tab.
    reply = app.post("/review/benchmark/undo", data=stale)
    assert reply.status_code == 200 and "Nothing was undone" in reply.text
    assert [line["decision"] for line in lines(folder)] == ["relevant", "relevant"]
    no_name = {"csrf": stale["csrf"]}
    assert "Nothing was undone" in app.post("/review/benchmark/undo", data=no_name).text and len(lines(folder)) == 2
    assert post(app, "/review/benchmark/undo", fields_of(page, "/review/benchmark/undo")).status_code == 303
    first, second, back = lines(folder)
    assert back["decision"] == "withdraw" and back["picture"] == second["picture"] != first["picture"]
    assert post(app, "/review/benchmark/undo", stale).status_code == 303  # Now it is the last again.
    assert lines(folder)[-1] == lines(folder)[-1] | {"decision": "withdraw", "picture": first["picture"]}


def test_nobody_takes_back_the_decision_of_another(tmp_path: Path) -> None:
    write_benchmark(benchmark(), tmp_path / "benchmark")
    shelf, book = shelf_of(tmp_path), ReviewLog()
    mine = book.decide(shelf, "ana", "t0", "p0", "relevant")
    assert book.undo(shelf, "ben", mark_of(mine)) is None
    assert book.undo(shelf, "ana", mark_of(replace(mine, decision="not relevant"))) is None
    assert book.undo(shelf, "ana", mark_of(mine)) == mine
    assert last_of(book.read(shelf.folder), "ana") is None


# -- 6, 7: the file as others left it


def test_half_a_last_line_locks_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "benchmark"
    write_benchmark(benchmark(), folder)
    shelf = shelf_of(tmp_path)
    ReviewLog().decide(shelf, "ana", "t0", "p0", "relevant")
    with (folder / "reviews.jsonl").open("ab") as file:
        file.write(b'{"task": "t0", "pict')
    app = opened(tmp_path)
    for path in ("/bench", "/bench/benchmark", "/bench/benchmark/audit", "/review", "/review/benchmark"):
        assert app.get(path).status_code == 200, path
    assert len(read_benchmark(folder).reviews) == 1
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")
    assert post(app, "/review/benchmark", fields | {"decision": "relevant"}).status_code == 303
    assert len(lines(folder)) == 2 and validate_benchmark(folder) == ()


def test_what_is_wrong_with_the_file_is_said_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "benchmark"
    write_benchmark(benchmark(), folder)
    app = opened(tmp_path)
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")
    bad = b'{"task":"t0","person":"ana","decision":"relevant","when":"yesterday","picture":"p0"}\n'
    (folder / "reviews.jsonl").write_bytes(bad)
    reply = post(app, "/review/benchmark", fields | {"decision": "relevant"})
    assert reply.status_code == 400 and "reviews.jsonl, line 1" in reply.text and "benchmark" in reply.text
    assert (folder / "reviews.jsonl").read_bytes() == bad


def test_a_decision_is_saved_though_the_card_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "benchmark"
    write_benchmark(benchmark(), folder)
    app = opened(tmp_path)
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(review_module, "write_json", full)
    reply = app.post("/review/benchmark", data=fields | {"decision": "relevant"})
    assert reply.status_code == 200 and "the card could not be brought up to date" in reply.text
    assert len(lines(folder)) == 1
    monkeypatch.undo()
    ReviewLog().decide(shelf_of(tmp_path), "ben", "t0", "p0", "relevant")
    assert validate_benchmark(folder) == ()


# -- 5: a broken benchmark


def _no_header(folder: Path) -> None:
    (folder / "benchmark.json").write_text("{")


def _half_a_table(folder: Path) -> None:
    tasks = folder / "tasks.jsonl"
    tasks.write_bytes(tasks.read_bytes()[:-10])


@pytest.mark.parametrize("damage", [_no_header, _half_a_table])
def test_a_broken_benchmark_is_listed_and_the_others_work(copied: Path, damage: Callable[[Path], None]) -> None:
    broken = copied / "other" / "broken"
    write_benchmark(benchmark("other"), broken)
    damage(broken)
    app = opened(copied)
    for path in ("/bench", "/review"):
        page = app.get(path)
        assert page.status_code == 200 and "/review/benchmark" in page.text
        assert "<b>broken</b> <small>in demo/other/broken</small>" in page.text and ".json" in page.text
    for path in ("/runs/sample-strong", "/runs", "/bench/benchmark", "/runs/sample-strong/replay?task=rank-01"):
        assert app.get(path).status_code == 200, path
    own = app.get("/bench/broken")
    assert own.status_code == 400 and "benchmark broken" in own.text
    write_benchmark(benchmark("other"), broken, force=True)
    assert app.get("/bench/broken").status_code == 200


def test_a_bad_line_of_reviews_is_in_the_way_of_no_other_benchmark(copied: Path) -> None:
    broken = copied / "other" / "broken"
    write_benchmark(benchmark("other"), broken)
    (broken / "reviews.jsonl").write_text('{"task":"t0"}\n')
    app = opened(copied)
    assert app.get("/bench").status_code == app.get("/runs/sample-strong").status_code == 200
    page = app.get("/review")
    assert page.status_code == 200 and "<b>broken</b>" in page.text and "/review/benchmark" in page.text
    assert app.get("/review/broken").status_code == 400


# -- 8: what can't be written


def test_thumbnails_need_no_place_to_be_kept(copied: Path) -> None:
    shutil.rmtree(copied / "workspace" / "thumbs", ignore_errors=True)
    (copied / "workspace" / "thumbs").write_text("in the way")
    app = opened(copied)
    key = re.findall(r"/thumb/([0-9a-f]{64})", app.get("/search").text)[0]
    reply = app.get(f"/thumb/{key}?size=256")
    assert reply.status_code == 200 and reply.headers["content-type"] == "image/jpeg"


def test_a_benchmark_that_can_not_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_benchmark(benchmark(), tmp_path / "benchmark")
    app = opened(tmp_path)
    fields = fields_of(app.get("/review/benchmark").text, "/review/benchmark")

    def refused(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(review_decisions, "AppendOnlyFile", refused)
    reply = post(app, "/review/benchmark", fields | {"decision": "relevant"})
    assert reply.status_code == 400 and "Permission denied" in reply.text and "was not saved" in reply.text


def test_a_workspace_that_can_not_be_written_is_searched(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(database: Any, **more: Any) -> sqlite3.Connection:
        if not more.get("uri"):
            raise sqlite3.OperationalError("unable to open database file")
        return real(database, **more)

    monkeypatch.setattr(sqlite3, "connect", connect)
    app = opened(copied)
    kept = (copied / "workspace" / "vectors.sqlite").read_bytes()
    for path in ("/search", "/search?text=blue", "/search?text=blue&method=words", "/api/count?where=time+%3E+2010"):
        assert app.get(path).status_code == 200, path
    assert 'class="tile' in app.get("/search?text=blue").text
    assert (copied / "workspace" / "vectors.sqlite").read_bytes() == kept


# -- 9: tiles


def tiles_of(page: str) -> list[str]:
    return [link.replace("&amp;", "&") for link in re.findall(r'<a class="tile[^"]*" href="(/picture[^"]*)"', page)]


def test_tiles_of_a_benchmark_without_a_corpus_lead_to_its_pictures(copied: Path) -> None:
    app = opened(copied / "benchmark")
    links = tiles_of(app.get("/bench/benchmark/task?id=rank-01").text)
    assert links
    page = app.get(links[0])
    assert page.status_code == 200 and 'href="/bench/benchmark"' in page.text and "Search like this" not in page.text
    assert app.get("/picture?id=nothing").status_code == 404
    assert app.get(f"/picture?id=nothing&key={'0' * 64}").status_code == 404
    assert app.get("/picture?id=nothing&key=../../etc").status_code == 404


def test_tiles_lead_to_the_corpus_where_it_has_the_same_picture_by_another_name(copied: Path) -> None:
    folder = copied / "benchmark"
    held = read_benchmark(folder)
    renamed = {f"other/{id_}": replace(picture, id=f"other/{id_}") for id_, picture in held.corpus.pictures.items()}
    task, truth = next((task, truth) for task, truth in held.truth.items() if isinstance(truth, Relevance))
    grades = {f"other/{id_}": grade for id_, grade in truth.grades.items()}
    small = Benchmark(
        held.name, Corpus("other", renamed), {task: held.tasks[task]}, {task: Relevance(grades)}, version="2"
    )
    write_benchmark(small, folder)
    app = opened(copied)
    links = tiles_of(app.get(f"/bench/benchmark/task?id={task}").text)
    assert links and "other%2F" in links[0]
    page = app.get(links[0])
    assert page.status_code == 200 and "Search like this" in page.text


# -- 11: many at once


def shelf_of(root: Path, name: str = "benchmark") -> LoadedBenchmark:
    found = Library((root,), None).benchmark(name)
    assert found is not None
    return found


class _Slow(ReviewLog):
    """Its cards wait until they may be written."""

    def __init__(self, slow: Path) -> None:
        super().__init__()
        self.slow, self.may, self.begun, self.cards = slow, threading.Event(), threading.Event(), 0

    def _write_card(self, shelf: LoadedBenchmark) -> None:
        if shelf.folder == self.slow:
            self.cards += 1
            self.begun.set()
            assert self.may.wait(60)
        super()._write_card(shelf)


def test_six_people_wait_for_no_more_than_two_cards_and_lose_nothing(tmp_path: Path) -> None:
    write_benchmark(benchmark(), tmp_path / "benchmark")
    write_benchmark(benchmark("other"), tmp_path / "other")
    shelf, book = shelf_of(tmp_path), _Slow(tmp_path / "benchmark")
    people = [
        threading.Thread(target=book.decide, args=(shelf, f"person {at}", "t0", PICTURES[at], "relevant"))
        for at in range(6)
    ]
    people[0].start()
    assert book.begun.wait(60)
    for thread in people[1:]:
        thread.start()
    while (shelf.folder / "reviews.jsonl").read_bytes().count(b"\n") < 6:  # Lines do not wait for a card.
        time.sleep(0.01)
    book.decide(shelf_of(tmp_path, "other"), "ana", "t0", "p0", "relevant")  # Nor does another benchmark.
    book.may.set()
    for thread in people:
        thread.join(60)
    assert book.cards <= 3 and len(book.read(shelf.folder)) == 6
    assert validate_benchmark(shelf.folder) == () and validate_benchmark(tmp_path / "other") == ()
    audit = read_benchmark(shelf.folder).card["audit"]
    assert isinstance(audit, dict) and audit["labels_checked"] == 6
