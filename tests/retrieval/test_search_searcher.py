"""Asking an index in every way there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from search_tools import RGB, Colours, JointColours, TokenColours, group, paint, painted, said
from sightline.calls.ledger import read_ledger
from sightline.calls.session import CallOptions, Session
from sightline.errors import UserError
from sightline.retrieval.index.build import Parts, build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.searcher import Searcher
from sightline.retrieval.vector_stores.base import VectorStoreGoneError
from sightline.types import Box, Method, Picture, PictureRef, Scope, SearchQuery

WORDS, HYBRID = Method(vectors=False, words=True), Method(words=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("searcher")


@pytest.fixture(scope="module")
def pictures(place: Path) -> list[Picture]:
    plain = painted(place / "pictures", **{name: name for name in RGB})
    return [*plain, *painted(place / "pictures", flag=("red", "blue"), twin="red", sign="gray")]


@pytest.fixture(scope="module")
def workspace(place: Path, pictures: list[Picture]) -> Path:
    annotations = [
        said("red.png", "a fire engine", "vehicle", "toy", light="day"),
        said("blue.png", "the sea at night", "water", light="night"),
        said("sign.png", "red", "words"),
        said("cyan.png", "a swimming pool and the sea", "water"),
    ]
    groups = [
        group("event/fire", "event", "red.png", "orange.png"),
        group("event/sea", "event", "blue.png", "cyan.png"),
        group("event/secret", "event", "lime.png", hidden=True),
    ]
    content = Content(pictures, groups, annotations)
    build_index(Session(place / "ws"), content=content, embedder=Colours(), parts=Parts(captions=True))
    return place / "ws"


@pytest.fixture
def searcher(workspace: Path) -> Iterator[Searcher]:
    with Searcher.open(workspace, embedder=Colours()) as opened:
        yield opened


def test_nearest_first_with_all_there_is_to_say(searcher: Searcher) -> None:
    found = searcher.search(SearchQuery("red", k=3))
    assert found.ids == ("red.png", "twin.png", "orange.png")
    best = found.hits[0]
    assert best.score == pytest.approx(1) and best.parts == {"picture": best.score} and best.tags == ("vehicle", "toy")
    assert (found.embedder, found.index, found.backend, found.exact) == ("colours", "default", "exact", True)
    assert found.searched == len(searcher) == 11 and found.method == Method()
    shown = found.to_json()
    assert shown["method"]["vectors"] is True and shown["hits"][0]["parts"]["picture"] == pytest.approx(1)


def test_filters_and_scopes_leave_exact_answers(searcher: Searcher) -> None:
    everything = searcher.search(SearchQuery("red", k=99))
    for query, keeps in (
        (SearchQuery(where="time < 2020-01-03"), {"red.png", "lime.png", "flag.png", "twin.png"}),
        (SearchQuery(where="tag:water"), {"blue.png", "cyan.png"}),
        (
            SearchQuery(scope=Scope(groups=("event/sea", "event/fire"))),
            {"red.png", "orange.png", "blue.png", "cyan.png"},
        ),
        (SearchQuery(scope=Scope(pictures=("sign.png", "nobody.png"))), {"sign.png"}),
        (SearchQuery(scope=Scope(owner="bob", groups=("event/sea",))), {"cyan.png"}),
        (SearchQuery(scope=Scope(owner="ana"), where="tag:water"), {"blue.png"}),
        (SearchQuery(where="year = 1999"), set()),
    ):
        found = searcher.search(replace(query, text="red", k=99))
        wanted = [hit for hit in everything.hits if hit.picture.id in keeps]
        assert found.ids == tuple(hit.picture.id for hit in wanted) and found.searched == len(keeps)
        assert [hit.score for hit in found.hits] == pytest.approx([hit.score for hit in wanted])
        worded = searcher.search(replace(query, text="red sea", k=99), WORDS)
        assert set(worded.ids) == keeps & {"red.png", "sign.png", "blue.png", "cyan.png"}


def test_a_folder_limits_it(searcher: Searcher, place: Path) -> None:
    assert searcher.search(SearchQuery("red"), under=place / "pictures").searched == 11
    assert searcher.search(SearchQuery("red"), under=place / "pict").hits == ()


@pytest.mark.parametrize(
    ("scope", "message", "fix"),
    [
        (Scope(owner="bbo"), 'no owner "bbo"', "Did you mean bob?"),
        (Scope(owner="zzzzzz"), 'no owner "zzzzzz"', "Known: ana, bob"),
        (Scope(groups=("event/fir",)), 'no group "event/fir"', "event/fire"),
        (Scope(groups=("event/secret",)), 'no group "event/secret"', "event/sea"),
    ],
)
def test_nobody_there(searcher: Searcher, scope: Scope, message: str, fix: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        searcher.search(SearchQuery("red", scope=scope))
    assert fix in (caught.value.fix or "") and "secret" not in (caught.value.fix or "")


def test_hidden_groups_are_not_in_filters_either(searcher: Searcher) -> None:
    assert searcher.search(SearchQuery("red", where='event = "secret"')).hits == ()


# --- by picture ----------------------------------------------------------------------------------------------


def test_like_a_picture_of_the_corpus(searcher: Searcher) -> None:
    found = searcher.search(SearchQuery(like=(PictureRef("twin.png"),), k=2))
    assert found.ids == ("red.png", "twin.png") and found.query == ""


def test_like_a_region_and_like_a_file(searcher: Searcher, place: Path) -> None:
    left, right = Box(0, 0, 0.5, 1), Box(0.5, 0, 1, 1)
    assert searcher.search(SearchQuery(like=(PictureRef("flag.png", left),), k=1)).ids == ("red.png",)
    assert searcher.search(SearchQuery(like=(PictureRef("flag.png", right),), k=1)).ids == ("blue.png",)
    file = paint(place / "elsewhere.png", "blue", "yellow")
    assert searcher.search(SearchQuery(files=(f"{file}#0.5,0,1,1",), k=1)).ids == ("yellow.png",)
    assert searcher.search(SearchQuery(files=(f"{file}#0,0,0.5,1",), k=1)).ids == ("blue.png",)
    several = SearchQuery(like=(PictureRef("red.png"), PictureRef("blue.png")), k=1)
    assert searcher.search(several).ids[0] in ("magenta.png", "flag.png")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (SearchQuery(like=(PictureRef("rde.png"),)), 'no picture "rde.png"'),
        (SearchQuery(files=("nowhere.png",)), "no file nowhere.png"),
        (SearchQuery(files=("red.png#0.9,0,0.1,1",)), "is not a region"),
        (SearchQuery(), "the query is empty"),
        (SearchQuery("  "), "the query is empty"),
        (SearchQuery("red", k=0), "-k 0"),
    ],
)
def test_cues_that_are_none(searcher: Searcher, query: SearchQuery, message: str) -> None:
    with pytest.raises(UserError, match=message):
        searcher.search(query)


def test_a_broken_cue(searcher: Searcher, tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"no picture")
    with pytest.raises(UserError, match="can't be used as a cue: not a picture"):
        searcher.search(SearchQuery(files=(str(tmp_path / "x.png"),)))


def test_words_and_a_picture_together(searcher: Searcher, workspace: Path, pictures: list[Picture]) -> None:
    query = SearchQuery("blue", like=(PictureRef("red.png"),), k=1)
    assert searcher.search(query).ids[0] in ("magenta.png", "flag.png")
    assert searcher.search(query, Method(text_weight=1)).ids == ("blue.png",)
    assert searcher.search(query, Method(text_weight=0)).ids == ("red.png",)
    build_index(Session(workspace), "joint", content=Content(pictures), embedder=JointColours())
    with Searcher.open(workspace, "joint", embedder=JointColours()) as joint:
        assert joint.search(query).ids == ("blue.png",)


# --- methods -------------------------------------------------------------------------------------------------


def test_words_alone(searcher: Searcher) -> None:
    found = searcher.search(SearchQuery("the sea"), WORDS)
    assert found.ids == ("blue.png", "cyan.png") and found.embedder is None
    assert all(hit.parts == {"words": hit.score} for hit in found.hits)
    assert searcher.search(SearchQuery("unheard of"), WORDS).hits == ()


def test_words_alone_open_neither_vectors_nor_embedder(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.retrieval.open_index.open_vector_store", lambda *_, **__: pytest.fail("opened"))
    with Searcher.open(workspace, embedder="nobody/there") as searcher:
        assert searcher.search(SearchQuery("sea", where="tag:water"), WORDS).searched == 2


def test_hybrid_says_which_parts_found_what(searcher: Searcher) -> None:
    found = searcher.search(SearchQuery("red", k=11), HYBRID)
    parts = {hit.picture.id: set(hit.parts) for hit in found.hits}
    assert parts["red.png"] == parts["sign.png"] == {"picture", "words"} and parts["lime.png"] == {"picture"}
    only_words = searcher.search(SearchQuery("red", k=1), Method(words=True, vector_weight=0))
    worded = searcher.search(SearchQuery("red", k=1), WORDS)
    assert only_words.ids == worded.ids
    ranks = searcher.search(SearchQuery("red", k=11), Method(words=True, fusion="rrf"))
    assert set(ranks.ids) == set(found.ids) and ranks.hits[0].score < 2 / 60


def test_captions_count_as_they_are_weighed(searcher: Searcher) -> None:
    own = searcher.search(SearchQuery("red", k=11), Method(captions=True, picture_weight=1))
    assert own.ids[:2] == ("red.png", "twin.png")
    told = searcher.search(SearchQuery("red", k=2), Method(captions=True, picture_weight=0))
    assert "sign.png" in told.ids
    sign = next(hit for hit in told.hits if hit.picture.id == "sign.png")
    assert sign.parts["caption"] == pytest.approx(1, abs=1e-3) and sign.parts["picture"] < 0.7


def test_variety_puts_copies_later(searcher: Searcher) -> None:
    plain = searcher.search(SearchQuery("red", k=3)).ids
    varied = searcher.search(SearchQuery("red", k=3), Method(diversity=0.8)).ids
    assert plain[:2] == ("red.png", "twin.png") and varied[0] == "red.png" and "twin.png" not in varied


def test_a_threshold_by_hand(searcher: Searcher) -> None:
    found = searcher.search(SearchQuery("red", k=11), Method(threshold=0.95))
    assert found.ids == ("red.png", "twin.png") and found.threshold == 0.95 and found.below == 9
    nothing = searcher.search(SearchQuery("red", where="tag:water"), Method(threshold=0.95))
    assert nothing.hits == () and nothing.below == 2
    # A picture that holds all of the words stays.
    assert "sign.png" in searcher.search(SearchQuery("red", k=11), Method(words=True, threshold=0.95)).ids


def test_an_automatic_threshold_is_calibrated_once(workspace: Path, searcher: Searcher) -> None:
    found = searcher.search(SearchQuery("red", k=11), Method(threshold="auto"))
    assert found.threshold is not None
    assert found.below == 11 - len(found.hits)
    assert all(hit.parts["match"] >= 0 for hit in found.hits)
    embedder = Colours()
    with Searcher.open(workspace, embedder=embedder) as again:
        assert again.search(SearchQuery("red", k=11), Method(threshold="auto")).ids == found.ids
    assert embedder.texts_seen == 0
    with pytest.raises(UserError, match="automatic threshold is for words"):
        searcher.search(SearchQuery(like=(PictureRef("red.png"),)), Method(threshold="auto"))


def test_late_interaction(workspace: Path, pictures: list[Picture]) -> None:
    build_index(
        Session(workspace), "late", content=Content(pictures), embedder=TokenColours(), parts=Parts(tokens=True)
    )
    with Searcher.open(workspace, "late", embedder=TokenColours()) as searcher:
        mean = searcher.search(SearchQuery("red blue", k=2))
        late = searcher.search(SearchQuery("red blue", k=2), Method(late=True))
        # By its mean colour magenta is as near as the flag; word by word only the flag has both.
        assert set(mean.ids) == {"magenta.png", "flag.png"} and late.ids[0] == "flag.png"
        assert late.hits[0].parts["late"] == pytest.approx(1, abs=1e-3) and late.hits[1].parts["late"] < 0.9
    with pytest.raises(UserError, match="gives no token vectors"):
        build_index(Session(workspace), "none", content=Content(pictures), embedder=Colours(), parts=Parts(tokens=True))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Method(vectors=False), "neither vectors nor words"),
        (Method(vector_weight=1.5), "vector_weight 1.5 is not a share"),
        (Method(diversity=-0.1), "diversity -0.1"),
        (Method(depth=0), "depth must be at least 1, not 0"),
        (Method(rrf_constant=0), "rrf_constant must be above 0, not 0"),
        (Method(late=True), "holds no token vectors"),
        (Method(vectors=False, words=True, diversity=0.5), "diversity needs vectors"),
        (Method(vectors=False, words=True, threshold="auto"), "threshold needs vectors"),
        (Method(vectors=False, words=True, threshold=0.2), "threshold needs vectors"),
    ],
)
def test_methods_that_cant_be(searcher: Searcher, method: Method, message: str) -> None:
    with pytest.raises(UserError, match=message):
        searcher.search(SearchQuery("red"), method)


def test_pictures_alone_leave_words_out(searcher: Searcher) -> None:
    found = searcher.search(SearchQuery(like=(PictureRef("red.png"),), k=1), HYBRID)
    assert found.method.words is False and found.hits[0].parts.keys() == {"picture"}
    with pytest.raises(UserError, match="words can't be used without words"):
        searcher.search(SearchQuery(like=(PictureRef("red.png"),)), WORDS)


# --- re-ranking ----------------------------------------------------------------------------------------------


def script(path: Path, *lines: dict[str, str]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted/{path}"


def grades(*values: float) -> str:
    return json.dumps({"grades": [{"picture": at, "grade": value} for at, value in enumerate(values, 1)]})


def test_a_model_orders_the_best_anew(workspace: Path, tmp_path: Path) -> None:
    model = script(tmp_path / "good.jsonl", {"match": "each of the 3 pictures", "text": grades(2, 9, 5)})
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        plain = searcher.search(SearchQuery("red", k=3)).ids
        found = searcher.search(SearchQuery("red", k=3), Method(rerank=model, depth=3))
    assert found.ids == (plain[1], plain[2], plain[0]) and found.failures == 0
    assert [hit.parts["rerank"] for hit in found.hits] == [9, 5, 2]
    assert any(entry.stage == "rerank" for entry in read_ledger(workspace).rows)


def test_a_call_that_fails_keeps_the_order(workspace: Path, tmp_path: Path) -> None:
    model = script(
        tmp_path / "half.jsonl",
        {"match": "each of the 8 pictures", "failure": "refused"},
        {"match": "each of the 3 pictures", "text": grades(1, 2, 3)},
    )
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        plain = searcher.search(SearchQuery("lime", k=11)).ids
        found = searcher.search(SearchQuery("lime", k=11), Method(rerank=model))
    assert found.ids == (*plain[:8], plain[10], plain[9], plain[8])
    assert found.failures == 1 and "1 call of the re-ranker failed" in found.notes[0]


def test_grades_that_do_not_fit_are_a_failure(workspace: Path, tmp_path: Path) -> None:
    model = script(tmp_path / "short.jsonl", {"text": grades(1)})
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        plain = searcher.search(SearchQuery("blue", k=4)).ids
        found = searcher.search(SearchQuery("blue", k=4), Method(rerank=model, depth=4))
    assert found.ids == plain and found.failures == 1


def test_a_remote_re_ranker_is_refused_where_nothing_may_leave(workspace: Path) -> None:
    with (
        Searcher.open(embedder=Colours(), session=Session(workspace, calls=CallOptions(), local_only=True)) as searcher,
        pytest.raises(UserError, match="openai/gpt-5-mini"),
    ):
        searcher.search(SearchQuery("red"), Method(rerank="openai/gpt-5-mini"))


# --- many at once --------------------------------------------------------------------------------------------


def test_threads_get_what_one_would(searcher: Searcher) -> None:
    queries = [
        (SearchQuery(f"{name} sea", k=5, where=where), method)
        for name in RGB
        for where in (None, "tag:water", "time < 2020-01-05")
        for method in (None, HYBRID, WORDS, Method(diversity=0.3))
    ]
    wanted = [searcher.search(*query).ids for query in queries]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: searcher.search(*query).ids, queries * 3))
    assert found == wanted * 3


def test_a_server_that_goes_away_and_comes_back(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    assert searcher.pictures is not None

    def gone(*_: object) -> None:
        raise VectorStoreGoneError("qdrant", "connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(searcher.pictures.index, "nearest", gone)
        with pytest.raises(VectorStoreGoneError, match="the qdrant server went away: connection refused") as caught:
            searcher.search(SearchQuery("red"))
        assert caught.value.retryable and searcher.search(SearchQuery("sea"), WORDS).hits
    assert searcher.search(SearchQuery("red", k=1)).ids == ("red.png",)


def test_the_index_folder_itself_can_be_opened(workspace: Path) -> None:
    with Searcher.open(workspace / "indexes" / "default", embedder=Colours()) as searcher:
        assert searcher.search(SearchQuery("red", k=1)).ids == ("red.png",)
        assert np.count_nonzero(searcher.columns.present) == 11


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    "method",
    [
        HYBRID,
        replace(HYBRID, fusion="rrf"),
        replace(HYBRID, diversity=0.5),
        replace(HYBRID, threshold=0.2),
        Method(diversity=0.5),
        WORDS,
    ],
)
def test_what_comes_first_does_not_depend_on_how_much_is_asked_for(workspace: Path, method: Method, depth: int) -> None:
    how = replace(method, depth=depth)
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        whole = searcher.search(SearchQuery("red wall engine", k=1000), how)
        for k in (1, 2, 3, 4, 7, 10):
            found = searcher.search(SearchQuery("red wall engine", k=k), how)
            assert found.ids == whole.ids[:k]
            assert [hit.score for hit in found.hits] == [hit.score for hit in whole.hits[:k]]
