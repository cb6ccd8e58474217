"""The audit of a large benchmark: measured once, aside, while pages go on; and never again for a review."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from search_tools import Colours
from sightline.authoring.audit import audit_benchmark
from sightline.benchmark.folder import read_benchmark
from sightline.retrieval.searcher import Searcher
from sightline.runs.kept_baselines import baselines_of
from sightline.types import Relevance
from sightline.web import library
from sightline.web.cache import BackgroundCache
from sightline.web.pages import bench as pages
from sightline.web.pages import review
from sightline.web.server import open_app
from web_samples import client, forgery_token


def test_what_takes_long_is_made_once_and_nobody_waits() -> None:
    later: BackgroundCache[int] = BackgroundCache()
    may, made = threading.Event(), []

    def make() -> int:
        assert may.wait(60)
        made.append(1)
        return 7

    assert later.get("a", 1, make, patience=0) is None
    assert later.get("a", 1, make, patience=0.01) is None
    assert later.get("b", 1, lambda: 3, patience=60) == 3  # One that waits is in nobody's way.
    may.set()
    assert later.get("a", 1, make, patience=None) == 7 and later.get("a", 1, make) == 7
    assert made == [1]
    assert later.get("a", 2, lambda: 8, patience=None) == 8


def test_what_went_wrong_is_raised_and_then_tried_again() -> None:
    later: BackgroundCache[int] = BackgroundCache()

    def broken() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        later.get("a", 1, broken, patience=None)
    assert later.get("a", 1, lambda: 5, patience=None) == 5


def test_the_audit_is_measured_aside_and_only_its_reviews_change(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may, measured = threading.Event(), []

    def slow(*given: Any, **more: Any) -> Any:
        assert may.wait(60)
        measured.append(1)
        return audit_benchmark(*given, **more)

    monkeypatch.setattr(pages, "audit_benchmark", slow)
    app = client(open_app(None, (copied,), port=1, embedder=Colours()))
    app.cookies.set("sightline-person", "ana")
    page = app.get("/bench/benchmark/audit")
    assert page.status_code == 200 and "is being measured" in page.text and page.headers["refresh"] == "2"
    assert app.get("/bench/benchmark").status_code == 200
    may.set()
    while "is being measured" in page.text:
        time.sleep(0.02)
        page = app.get("/bench/benchmark/audit")
    assert "Without looking at a picture" in page.text and "refresh" not in page.headers
    benchmark = read_benchmark(copied / "benchmark")
    kept = baselines_of(benchmark)
    for name in ("learned", "random"):
        row = page.text.split(f'<th scope="row">{name}</th>')[1].split("</tr>")[0]
        assert f"{kept[name]['ndcg@10'][0].mean:.3f}" in row, "the figure that stands beside the scores"
    assert "Nobody has checked a label yet" in page.text
    token = forgery_token(page.text)
    truth = next(iter(_grades(copied).items()))
    for picture in list(truth[1])[:3]:
        fields = {"csrf": token, "task": truth[0], "picture": picture, "decision": "not relevant"}
        assert app.post("/review/benchmark", data=fields, follow_redirects=False).status_code == 303
    page = app.get("/bench/benchmark/audit")
    assert "Without looking at a picture" in page.text and "Nobody has checked a label yet" not in page.text
    assert measured == [1]


def _grades(root: Path) -> dict[str, Any]:
    held = read_benchmark(root / "benchmark")
    return {task: truth.grades for task, truth in held.truth.items() if isinstance(truth, Relevance)}


def test_what_first_pages_need_is_read_at_the_start(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copied / "broken").mkdir()
    (copied / "broken" / "benchmark.json").write_text("{")
    desk = open_app(None, (copied,), port=1, embedder=Colours())
    desk.warm()

    def again(*_: Any, **__: Any) -> None:
        raise AssertionError("read a second time")

    monkeypatch.setattr(library, "_read", again)
    monkeypatch.setattr(Searcher, "open", again)
    app = client(desk)
    for path in ("/bench/benchmark", "/bench", "/search?text=blue", '/api/count?where=near("Paris",5km)'):
        assert app.get(path).status_code == 200, path


def test_a_workspace_that_can_not_be_read_stops_no_start(tmp_path: Path) -> None:
    (tmp_path / "corpus.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 99)
    desk = open_app(None, (tmp_path,), port=1)
    desk.warm()
    assert client(desk).get("/search").status_code == 400


def test_what_is_known_of_a_benchmark_is_counted_once(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    for page, name in ((pages, "facts_of"), (pages, "flags_of"), (review, "review_command")):
        real = getattr(page, name)

        def counting(*given: Any, _name: str = name, _real: Callable[..., Any] = real) -> Any:
            counted.append(_name)
            return _real(*given)

        monkeypatch.setattr(page, name, counting)
    state = open_app(copied / "workspace", (copied,), port=8377)
    here, addresses = client(state), ("/bench", "/bench/benchmark", "/review/benchmark/people")
    loaded = state.library.benchmark("benchmark")
    assert loaded is not None
    task, picture = next(iter(loaded.labels.now))
    for address in addresses * 2:
        assert here.get(address).status_code == 200
    assert sorted(counted) == ["facts_of", "flags_of"]
    state.reviews.decide(loaded, "ana", task, picture, "relevant")
    for address in addresses * 2:
        assert here.get(address).status_code == 200
    assert sorted(counted) == ["facts_of", "flags_of", "review_command"]
