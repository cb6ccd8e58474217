"""Every page answers, holds what it should, and can be saved as one file that needs nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from search_tools import Colours, paint
from sightline.corpus.store import CorpusStore
from sightline.errors import UserError
from sightline.types import Trace
from sightline.web.app_state import harmless, with_value
from sightline.web.contradictions import marked, side_by_side
from sightline.web.library import find_folders
from sightline.web.pages.map import shaped
from sightline.web.server import open_app
from web_samples import client, forgery_token

PAGES = {
    "/": "60</b> pictures",
    "/search": "60",
    "/search?owner=ana": "Owner: <bdi>ana</bdi>",
    "/timeline": "2024",
    "/map": "pictures with coordinates",
    "/groups": "Duplicates",
    "/groups?kind=burst": "Bursts",
    "/problems": "Problems of the scan",
    "/search?text=red": "searched in",
    "/ask": "Your question",
    "/bench": "samples",
    "/bench/benchmark": "Table 2. Results",
    "/bench/benchmark?flag=too+many+relevant": "tasks",
    "/bench/benchmark/audit": "Without looking at a picture",
    "/bench/benchmark/task?id=rank-01": "judge-a",
    "/bench/benchmark/task?id=select-01": "Judged",
    "/bench/benchmark/task?id=answer-01": "Answer",
    "/bench/benchmark/task?id=choose-01": "option right",
    "/bench/benchmark/task?id=describe-01": "Thinking",
    "/review": "You are",
    "/review/benchmark": "Who are you?",
    "/review/benchmark/people": "No decisions yet",
    "/runs": "sample-strong",
    "/runs/sample-strong": "Missed",
    "/compare?a=sample-weak&b=sample-strong": "Task by task",
    "/compare?a=sample-weak&b=sample-strong&task=rank-01": "Truth",
    "/runs/sample-strong/replay?task=rank-01": "I look for dogs first.",
    "/traces/traces": "teacher-a",
}


@pytest.fixture(scope="module")
def app(life: Path) -> Iterator[TestClient]:
    with client(open_app(None, (life,), port=8377, embedder=Colours())) as opened:
        yield opened


@pytest.mark.parametrize(("path", "holds"), PAGES.items())
def test_every_page_holds_what_it_should(app: TestClient, path: str, holds: str) -> None:
    reply = app.get(path)
    assert reply.status_code == 200 and holds in reply.text
    assert "Undefined" not in reply.text and "object at 0x" not in reply.text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_can_be_saved_as_one_file(app: TestClient, path: str) -> None:
    reply = app.get(path, params={"export": "1", **dict(pair.split("=") for pair in re.findall(r"[?&]([^&]+)", path))})
    page = reply.text
    assert reply.status_code == 200 and "attachment" in reply.headers["content-disposition"]
    assert "<script" not in page and "<link" not in page and "<style>" in page
    assert not re.search(r'(?:src|href|action)="/', page) and 'name="csrf"' not in page
    assert all(src.startswith("data:") for src in re.findall(r'<img[^>]* src="([^"]*)"', page))


def test_saved_pictures_are_inside(app: TestClient) -> None:
    page = app.get("/search?owner=ana&similar=all&export=1").text
    assert page.count('src="data:image/jpeg;base64,') == 26


def test_the_grid_hands_out_windows(app: TestClient) -> None:
    rows = app.get("/api/pictures?order=name&similar=all&offset=10&limit=5").json()
    ids = [row[1] for row in app.get("/api/pictures?order=name&similar=all&limit=200").json()]
    assert [row[1] for row in rows] == ids[10:15] and len(ids) == 60 and ids == sorted(ids)
    assert all(re.fullmatch("[0-9a-f]{64}", row[0]) and re.fullmatch("#[0-9a-f]{6}", row[3]) for row in rows)


def test_a_picture_says_all_that_is_known(app: TestClient) -> None:
    id_ = app.get("/api/pictures?owner=ana&offset=3&limit=1").json()[0][1]
    page = app.get("/picture", params={"id": id_}).text
    assert "SHA-256" in page and "Said by sample truth" in page and "group=owner%2Fana" in page
    assert page.count("/thumb/") == 13  # It, and twelve that look like it.


def test_small_copies_are_made_once(life: Path, app: TestClient) -> None:
    key = app.get("/api/pictures?offset=7&limit=1").json()[0][0]
    first = app.get(f"/thumb/{key}?size=512")
    assert "immutable" in first.headers["cache-control"]
    kept = life / "workspace" / "thumbs" / key[:2] / f"{key}-512.jpg"
    assert kept.read_bytes() == first.content
    kept.write_bytes(b"kept")
    assert app.get(f"/thumb/{key}?size=512").content == b"kept"
    kept.unlink()


def test_without_an_index_a_filter_says_how_to_make_one(tmp_path: Path) -> None:
    workspace = tmp_path / "an archive"
    CorpusStore(workspace).close()
    command = f"sightline index --workspace '{workspace}'"
    with client(open_app(workspace, port=8377)) as opened:
        told = opened.get("/api/count", params={"where": "tiem > 2020"}).json()
        assert "no index" in told["error"] and command in told["error"]
        assert command.replace("'", "&#39;") in opened.get("/search").text


def test_counts_follow_the_filter(app: TestClient) -> None:
    assert app.get("/api/count", params={"where": ""}).json() == {"count": 56}, "copies count once"
    assert app.get("/api/count", params={"where": "owner:ana"}).json() == {"count": 25}
    assert "tiem" in app.get("/api/count", params={"where": "tiem > 2020"}).json()["error"]
    page = app.get("/search", params={"text": "red", "where": "tiem > 2020"})
    assert page.status_code == 200 and "Did you mean" in page.text


def test_a_dropped_picture_is_searched_with(app: TestClient, tmp_path: Path) -> None:
    token = forgery_token(app.get("/search").text)
    blue = paint(tmp_path / "blue.png", "blue").read_bytes()
    key = app.post("/api/upload", content=blue, headers={"x-csrf-token": token}).json()["upload"]
    page = app.get("/search", params={"upload": key, "where": "owner:ben"}).text
    assert "31 searched" in page and f"/thumb/{key}" in page
    assert app.get(f"/thumb/{key}?size=256").headers["content-type"] == "image/jpeg"
    assert "drop it again" in app.get("/search", params={"upload": "0" * 64}).text


def test_a_picture_that_has_gone_is_said_to_be_unreadable(life: Path, tmp_path: Path) -> None:
    from web_samples import make_large

    workspace = make_large(tmp_path, 30)
    opened = client(open_app(workspace, port=8377))
    key = opened.get("/api/pictures?order=name&similar=all&limit=1").json()[0][0]
    (tmp_path / "pictures" / "0000000.jpg").unlink()
    reply = opened.get(f"/thumb/{key}?size=256")
    assert reply.status_code == 200 and "can’t be read" in reply.text and reply.headers["cache-control"] == "no-store"


def test_contradictions_are_marked(app: TestClient) -> None:
    page = app.get("/traces/traces").text
    assert "<mark>two</mark>" in page and "<mark>three</mark>" in page and "<mark>red</mark>" in page
    assert "&lt;b&gt;hm&lt;/b&gt;" in page and "No contradiction was found" in page
    assert app.get("/traces/traces?offset=20").status_code == 200


def test_marks_are_around_whole_words_and_text_stays_text() -> None:
    assert marked("a <red> Red, redder", ["red"]) == "a &lt;<mark>red</mark>&gt; <mark>Red</mark>, redder"
    assert side_by_side([Trace("", "one")]).conflicts == ()


def test_a_way_is_shown_with_its_crops_memory_and_subsets(app: TestClient) -> None:
    page = app.get("/runs/sample-strong/replay?task=rank-01").text
    assert "9 → 4 pictures" in page and "So far: four dogs." in page and "<rect x=" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "because I saw them." in page
    crop = re.search(r'src="(/thumb/[0-9a-f]{64}\?size=256)" alt="crop-1"', page)
    assert crop is not None and app.get(crop[1]).headers["content-type"] == "image/jpeg"


def test_without_a_corpus_the_rest_is_there(life: Path) -> None:
    opened = client(open_app(None, (life / "benchmark",), port=8377))
    assert "There are no pictures" in opened.get("/").text
    assert opened.get("/search").status_code == 404 and opened.get("/bench/benchmark").status_code == 200
    pool = opened.get("/bench/benchmark/task?id=rank-01").text
    thumb = re.search(r'src="(/thumb/[^"]+)"', pool)
    assert thumb is not None and opened.get(thumb[1]).headers["content-type"] == "image/jpeg"


def test_places_are_found_below_what_was_given(life: Path, tmp_path: Path) -> None:
    found = find_folders(None, [life])
    assert found.workspace == life / "workspace" and list(found.benchmarks) == ["benchmark"]
    assert set(found.runs) == {"sample-strong", "sample-middling", "sample-weak"} and list(found.traces) == ["traces"]
    for name in ("a/run", "b/run"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.json").write_text("{}")
    assert list(find_folders(None, [tmp_path]).runs) == ["run", "b-run"]
    with pytest.raises(UserError, match="there is no folder"):
        find_folders(None, [tmp_path / "none"])
    assert find_folders(tmp_path / "none", []).workspace is None


def test_a_folder_that_did_not_change_is_not_listed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    for folder in (tmp_path / "run", tmp_path):
        os.utime(folder, (1e9, 1e9))
    assert list(find_folders(None, [tmp_path]).runs) == ["run"]
    listed: list[Path] = []
    plain = os.scandir

    def watched(path: Path) -> Any:
        listed.append(path)
        return plain(path)

    monkeypatch.setattr("os.scandir", watched)
    assert list(find_folders(None, [tmp_path]).runs) == ["run"] and listed == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("{}")
    assert list(find_folders(None, [tmp_path]).runs) == ["other", "run"] and tmp_path / "run" not in listed


def test_the_map_is_twice_as_wide_as_high_and_inside_the_world() -> None:
    for box in ((-180, -90, 180, 90), (179, 89, 180, 90), (5.0, 5.0, 5.0, 5.0), (-180, -90, -170, 90)):
        west, south, east, north = shaped(box)
        assert -180 <= west < east <= 180.001 and -90 <= south < north <= 90.001
        assert east - west == pytest.approx(2 * (north - south))


def test_addresses_and_messages() -> None:
    assert with_value({"a": "1", "offset": "9", "export": "1"}, "b", "x y") == "a=1&b=x+y"
    assert with_value({"a": "1", "b": "2"}, "b", "") == "a=1"
    said = harmless("/home/ana/ws/x.json, line 2: see /etc/passwd or https://example.org/a", (Path("/home/ana/ws"),))
    assert said == "ws/x.json, line 2: see … or https://example.org/a"
