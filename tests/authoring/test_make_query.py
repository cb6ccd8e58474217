"""The words of queries: by templates and by a model, checked for repeats, leaks and truth."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from make_tools import (
    COLOURS,
    describing,
    draw,
    flat,
    notes,
    picture_in,
    project_in,
    rows,
    seeing,
    with_calls,
    words_in,
    write_rows,
)
from models_server import Received
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import ANNOTATIONS, PLAN, QUERIES, SEEDS, Project
from sightline.authoring.query import QueryStage
from sightline.authoring.query_checks import KnownQueries, is_answerable, leak, normalised, wrong_with
from sightline.calls.session import CallOptions
from sightline.config import Config
from sightline.errors import UserError
from sightline.types import Annotation

NOTE = Annotation(
    "a/IMG_0042.jpg", "a brown dog", {"place": "beach"}, {"has_people": True, "is_wet": False}, ("dog", "ball")
)


def planned(tmp_path: Path, found: list[Annotation], queries: int, **table: Any) -> Project:
    config = Config.model_validate({"query": table})
    project = project_in(tmp_path, config)
    write_rows(project.path(ANNOTATIONS), [flat(note) for note in found])
    ids = [note.picture_id for note in found[:queries]]
    write_rows(project.path(SEEDS), [{"query_id": f"q{at:03}", "seed_image_ids": [id_]} for at, id_ in enumerate(ids)])
    return project


def test_templates_write_every_style_and_difficulty_with_no_model(tmp_path: Path) -> None:
    found = notes(120)
    project = planned(tmp_path, found, 48)
    done = QueryStage().run(project)
    written = rows(project.path(QUERIES))
    assert (done.counts, done.failures, done.usd) == ({"written": 48, "kept": 0}, {}, 0.0)
    pairs = Counter((row["style"], row["difficulty"]) for row in written)
    wanted = product(("keyword", "sentence", "question", "vague"), ("easy", "medium", "hard"))
    assert pairs == dict.fromkeys(wanted, 4)
    assert len({normalised(row["query_text"]) for row in written}) == 48
    by_id = {note.picture_id: note for note in found}
    for row in written:
        note = by_id[row["seed_image_ids"][0]]
        assert is_answerable(row["query_text"], row["style"], [note])
        said = {*note.tags, *note.facets.values(), "people"}
        assert any(word in row["query_text"] for word in said)
    assert all(row["query_text"].endswith("?") for row in written if row["style"] == "question")
    assert [row["query_id"] for row in written] == [f"q{at:03}" for at in range(48)]


def test_harder_queries_ask_for_more(tmp_path: Path) -> None:
    project = planned(tmp_path, notes(200), 60, styles=("keyword",))
    QueryStage().run(project)
    words: dict[str, list[int]] = {}
    for row in rows(project.path(QUERIES)):
        words.setdefault(row["difficulty"], []).append(len(row["query_text"].split()))
    easy, medium, hard = (sum(words[name]) / len(words[name]) for name in ("easy", "medium", "hard"))
    assert easy < medium < hard


def test_pictures_of_which_the_same_is_said_do_not_get_the_same_query(tmp_path: Path) -> None:
    same = [Annotation(f"{at}.jpg", tags=("dog", "beach", "ball")) for at in range(20)]
    project = planned(tmp_path, same, 20)
    done = QueryStage().run(project)
    texts = [normalised(row["query_text"]) for row in rows(project.path(QUERIES))]
    assert len(set(texts)) == len(texts) == 7, "as many as there are things to combine"
    assert done.failures == {"duplicate": 13}
    assert {row["kind"] for row in rows(project.failed(QUERIES))} == {"duplicate"}


def test_what_nothing_was_said_of_can_not_be_asked_for(tmp_path: Path) -> None:
    project = planned(tmp_path, [Annotation("a.jpg"), Annotation("b.jpg", tags=("dog",))], 2)
    done = QueryStage().run(project)
    assert done.failures == {"empty": 1}
    assert [row["seed_image_ids"] for row in rows(project.path(QUERIES))] == [["b.jpg"]]


@pytest.mark.parametrize(
    ("text", "given_away"),
    [
        ("a dog like in IMG_0042", "IMG_0042"),
        ("img_0042.jpg", "img_0042.jpg"),
        ("a/IMG_0042.jpg", "IMG_0042.jpg"),
        ("holiday.jpeg please", "holiday.jpeg"),
        ("DSC01234 with a dog", "DSC01234"),
        ("a brown dog on the beach", None),
        ("42 dogs", None),
    ],
)
def test_leaks(text: str, given_away: str | None) -> None:
    assert leak(text, ["a/IMG_0042.jpg"]) == given_away


def test_a_file_that_is_called_like_what_it_shows_is_no_leak() -> None:
    assert leak("a dog", ["dog.jpg"]) is None
    assert leak("dog_17 runs", ["dog_17.jpg"]) == "dog_17"


def test_a_query_must_be_true_of_its_seed() -> None:
    assert is_answerable("dogs with balls at the beach", "sentence", [NOTE])
    assert is_answerable("people", "keyword", [NOTE])
    assert not is_answerable("wet people and a submarine", "keyword", [NOTE])
    assert not is_answerable("a picture of something", "sentence", [NOTE])
    assert is_answerable("some warm day with a dog", "vague", [NOTE])


@given(st.lists(st.sampled_from(["dog", "beach", "ball", "sea", "sun"]), min_size=1, max_size=5, unique=True))
@hypothesis(max_examples=40, deadline=None)
def test_the_same_words_in_another_form_ask_for_the_same(words: list[str]) -> None:
    asked = KnownQueries()
    asked.add("q1", " ".join(words))
    assert asked.same_as(f"Which pictures show {', '.join(reversed(words)).upper()}?") == "q1"
    assert asked.same_as(f"{' '.join(words)} helicopter") is None


def test_the_first_thing_that_is_wrong_is_named() -> None:
    asked = KnownQueries()
    asked.add("q1", "a dog and a ball")
    wrong = [
        wrong_with(text, "sentence", [NOTE.picture_id], [NOTE], asked)
        for text in (" ", "IMG_0042", "a cat", "ball, dog")
    ]
    assert [one and one.kind for one in wrong] == ["empty", "leak", "unanswerable", "duplicate"]
    assert wrong_with("a dog on the beach", "sentence", [NOTE.picture_id], [NOTE], asked) is None


def seeds_of_colour(tmp_path: Path, **query: Any) -> Project:
    config = Config.model_validate({"query": {"model": "vllm/writer", **query}})
    project = project_in(tmp_path, config)
    PicturesStage(draw(tmp_path / "pictures", *COLOURS)).run(project)
    ids = [f"{at:02}_{colour}.png" for at, colour in enumerate(COLOURS)]
    lines = [{"image_id": id_, **describing(colour)} for id_, colour in zip(ids, COLOURS, strict=True)]
    write_rows(project.path(ANNOTATIONS), lines)
    pools = [{"seed_image_ids": [id_], "candidate_image_ids": [id_, ids[0]]} for id_ in ids]
    write_rows(project.path(PLAN), [{"query_id": f"q{at}", **pool} for at, pool in enumerate(pools)])
    return project


def colour_in(request: Received) -> str:
    return next(colour for colour in COLOURS if f'"a {colour} field"' in words_in(request))


def test_a_model_sees_the_seeds_and_nothing_that_names_them(tmp_path: Path) -> None:
    project = seeds_of_colour(tmp_path)
    with seeing(lambda request: {"query_text": f"a {colour_in(request)} plain field"}) as server:
        done = QueryStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
        assert done.counts == {"written": 4, "kept": 0}
        assert all(picture_in(request) is not None for request in server.requests)
        assert not any(".png" in words_in(request) for request in server.requests)
        assert "two to five keywords" in words_in(
            min(server.requests, key=lambda one: list(COLOURS).index(colour_in(one)))
        )
        again = QueryStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
        assert (again.counts, len(server.requests)) == ({"written": 0, "kept": 4}, 4)
    assert rows(project.path(QUERIES))[2]["query_text"] == "a blue plain field"


def test_what_a_model_words_badly_is_asked_for_once_more(tmp_path: Path) -> None:
    project = seeds_of_colour(tmp_path, styles=("sentence",))

    def reply(request: Received) -> Any:
        colour, again = colour_in(request), "could not be used" in words_in(request)
        bad = {
            "red": "00_red.png",
            "green": "an aeroplane over mountains",
            "blue": "IMG_9999",
            "yellow": "a yellow field",
        }
        return {"query_text": f"a {colour} field" if again and colour != "blue" else bad[colour]}

    with seeing(reply) as server:
        done = QueryStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
        assert len(server.requests) == 4 + 3
    assert done.failures == {"leak": 1}
    assert [row["query_text"] for row in rows(project.path(QUERIES))] == [
        "a red field",
        "a green field",
        "a yellow field",
    ]
    (failed,) = rows(project.failed(QUERIES))
    assert (failed["query_id"], failed["kind"]) == ("q2", "leak")


def test_a_query_that_somebody_wrote_is_kept(tmp_path: Path) -> None:
    project = planned(tmp_path, notes(30), 3)
    write_rows(project.path(QUERIES), [{"query_id": "q001", "query_text": "my own words"}])
    done = QueryStage().run(project)
    assert done.counts == {"written": 2, "kept": 1}
    assert rows(project.path(QUERIES))[1] == {"query_id": "q001", "query_text": "my own words"}
    first = project.path(QUERIES).read_bytes()
    assert QueryStage().run(project).counts == {"written": 0, "kept": 3}
    assert project.path(QUERIES).read_bytes() == first


def test_seeds_of_other_pictures_are_refused(tmp_path: Path) -> None:
    project = planned(tmp_path, notes(5), 2)
    write_rows(project.path(SEEDS), [{"query_id": "q", "seed_image_ids": ["nobody.jpg"]}])
    with pytest.raises(UserError, match="no query has an annotated seed"):
        QueryStage().run(project)
    project.path(SEEDS).unlink()
    with pytest.raises(UserError, match="make plan, or give one with --query-plan FILE"):
        QueryStage().run(project)


def test_a_price_is_said_and_nothing_is_asked_or_written(tmp_path: Path) -> None:
    project = seeds_of_colour(tmp_path)
    price = QueryStage().run(with_calls(project, CallOptions(plan=True, base_url="http://localhost:9/v1"))).price
    assert price is not None
    assert price.to_json()["calls"] == 4
    free = QueryStage("builtin/photos").run(with_calls(project, CallOptions(plan=True))).price
    assert free is not None
    assert free.usd is not None
    assert free.usd.high == 0
    assert not project.path(QUERIES).exists()


def test_failures_are_counted_by_kind_in_the_json(tmp_path: Path) -> None:
    same = [Annotation(f"{at}.jpg", None, {}, {}, ("dog",)) for at in range(3)]
    project = planned(tmp_path, same, 3, styles=["keyword"])
    done = QueryStage().run(project)
    assert done.to_json()["failures"] == {"duplicate": 2}


def test_a_half_written_file_is_taken_up_where_it_ends(tmp_path: Path) -> None:
    project = planned(tmp_path, notes(40), 4)
    QueryStage().run(project)
    whole = project.path(QUERIES).read_bytes()
    project.path(QUERIES).write_bytes(whole[:-30])
    done = QueryStage().run(project)
    assert done.counts == {"written": 1, "kept": 3}
    assert project.path(QUERIES).read_bytes() == whole


def test_a_half_written_plan_names_the_line_and_the_fix(tmp_path: Path) -> None:
    project = planned(tmp_path, notes(40), 4)
    project.path(SEEDS).write_bytes(project.path(SEEDS).read_bytes()[:-10])
    with pytest.raises(UserError, match="line 4: the file ends in the middle of a line") as error:
        QueryStage().run(project)
    assert "run the stage again that writes the file" in str(error.value.fix)
