"""Queries from life: files of every kind, near-duplicates, languages, personal data, strata, clicks, bad input."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.authoring.query_clicks import Clicks
from sightline.authoring.query_log import LogRow, read_log
from sightline.authoring.query_sample import QueryLog, inclusion, sample_queries, strata_of, systematic
from sightline.authoring.query_text import Policy, language_of, masked, query_key
from sightline.errors import UserError

SLOW = (
    "[2026-11-01T12:48:26,890][WARN ][i.s.s.query] [node-1] [photos][0] took[10ms], took_millis[10], "
    'types[], source[{"size":10,"query":{"bool":{"must":[{"match":{"title":{"query":"red bike","operator":"and"}}}],'
    '"filter":[{"term":{"owner":"anna"}}]}}}], id[],\n'
)
ACCESS = '10.0.0.{n} - - [10/Oct/2026:13:55:36 -0700] "GET /search?k=5&q={q}&page=2 HTTP/1.1" 200 2326\n'


def rows(path: Path, pattern: str | None = None) -> tuple[list[LogRow], Counter[str]]:
    problems: Counter[str] = Counter()
    return list(read_log(path, pattern, problems)), problems


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_list_a_table_and_objects_say_the_same(tmp_path: Path) -> None:
    table = "query,id,count,picture,clicked,position\nred bike,a,3,,p1|p2,2|5\n,b,,p9,,\n"
    objects = [
        {
            "query": "red bike",
            "id": "a",
            "count": 3,
            "clicked": [{"picture": "p1", "position": 2}, {"picture": "p2", "position": 5}],
        },
        {"picture": "p9", "id": "b"},
    ]
    lines = "".join(json.dumps(one) + "\n" for one in objects)
    first, _ = rows(write(tmp_path / "q.csv", table))
    assert first == rows(write(tmp_path / "q.jsonl", lines))[0]
    assert first[0] == LogRow(1, "red bike", 3.0, "a", None, ("p1", "p2"), (2, 5))
    assert (first[1].query, first[1].picture) == ("", "p9")
    plain, _ = rows(write(tmp_path / "q.txt", "red bike\n\nblue car\n"))
    assert [(row.line, row.query.strip()) for row in plain] == [(1, "red bike"), (3, "blue car")]


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
@pytest.mark.parametrize("name", ["query", "Query", "search_term", "q"])
def test_columns_are_found_by_usual_names(tmp_path: Path, delimiter: str, name: str) -> None:
    path = write(tmp_path / "q.csv", f"{name}{delimiter}frequency\nred bike{delimiter}1,200\n".replace(",200", "200"))
    assert [(row.query, row.count) for row in rows(path)[0]] == [("red bike", 1200.0)]


def test_slow_logs_give_the_words_and_not_the_filters(tmp_path: Path) -> None:
    found, problems = rows(write(tmp_path / "slow.log", SLOW + "a line about something else\n"))
    assert [(row.query, row.time) for row in found] == [("red bike", "2026-11-01T12:48:26,890")]
    assert problems == {"lines without a query": 1}
    ecs = {
        "@timestamp": "2026-11-01",
        "elasticsearch.slowlog.source": '{"query":{"multi_match":{"query":"a dog","fields":["t"]}}}',
    }
    vector = {"source": '{"knn":{"field":"v","query_vector":[0.1,0.2]}}'}
    neural = {"source": {"query": {"neural": {"v": {"query_text": "snow", "model_id": "m"}}}}}
    path = write(tmp_path / "slow.jsonl", "".join(json.dumps(one) + "\n" for one in (ecs, vector, neural)))
    found, problems = rows(path)
    assert [row.query for row in found] == ["a dog", "snow"]
    assert problems["lines without a query"] == 1


def test_an_access_log_is_read_by_a_pattern(tmp_path: Path) -> None:
    lines = ACCESS.format(n=1, q="red+bike%20%C3%A9t%C3%A9") * 2 + ACCESS.format(n=2, q="blue") + "GET /other\n"
    path = write(tmp_path / "access.log", lines)
    found, problems = rows(path, "q")
    assert [row.query for row in found] == ["red bike été", "red bike été", "blue"]
    assert [row.query for row in rows(path, r"[?&]q=([^& ]+)")[0]] == [row.query for row in found]
    assert problems["lines without a query"] == 1
    drawn = sample_queries(QueryLog(path, "q"))
    assert {query.text: query.count for query in drawn.queries} == {"red bike été": 1.0, "blue": 1.0}
    assert drawn.report["repeated_in_session"] == 1
    for pattern, message in (("q=(", "not a regular expression"), ("q=[a-z]+", "has no group")):
        with pytest.raises(UserError, match=message):
            rows(path, pattern)
    with pytest.raises(UserError, match="is neither a list of queries") as raised:
        rows(path)
    assert "--query-pattern" in str(raised.value.fix)


def test_encodings_and_damage_are_taken_as_they_come(tmp_path: Path) -> None:
    mixed = b"\xef\xbb\xbfcaf\xc3\xa9\n" + "größe\n".encode("cp1252") + b"tree\n"
    found, problems = rows(write(tmp_path / "q.txt", mixed))
    assert [row.query.strip() for row in found] == ["café", "größe", "tree"]
    assert problems == {"lines that are not UTF-8, read as Windows-1252": 1}
    wide, _ = rows(write(tmp_path / "w.csv", "query,count\nété,2\n".encode("utf-16")))
    assert [(row.query, row.count) for row in wide] == [("été", 2.0)]
    packed = gzip.compress("".join(f"tree {n * n}\n" for n in range(50_000)).encode())
    assert len(rows(write(tmp_path / "q.txt.gz", packed))[0]) == 50_000
    cut, problems = rows(write(tmp_path / "cut.txt.gz", packed[: len(packed) // 2]))
    assert 0 < len(cut) < 50_000
    assert problems == {"ends in damaged compressed data": 1}


def test_wrong_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "q.jsonl", '{"query": "a"}\nnot json\n[1]\n{"query": ""}\n{"query": "b", "count": -1}\n{"x": 1}\n'
    )
    found, problems = rows(path)
    assert [row.query for row in found] == ["a"]
    assert problems == {
        "lines that can't be read": 2,
        "lines without a query": 2,
        "lines with a wrong count or position": 1,
    }


def test_a_query_that_a_comma_cuts_off_is_counted(tmp_path: Path) -> None:
    found, problems = rows(write(tmp_path / "q.csv", 'query\na dog, running\n"a cat, asleep"\n'))
    assert [row.query for row in found] == ["a dog", "a cat, asleep"]
    assert [(what.split(",")[0], count) for what, count in problems.items()] == [
        ("lines with more cells than columns", 1)
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", b"", "has no query .the file is empty"),
        ("q.csv", b"query,count\n", "has no query .no line has one"),
        ("q.csv", b"", "has no query"),
        ("q.csv", b"name,size\na,1\n", "no column for the query; its columns are name, size"),
        ("q.txt", b"\x89PNG\0\0", "is not a text file"),
        ("q.jsonl", b"{}\n{}\n", "has no query .2 lines without a query"),
    ],
)
def test_what_can_not_be_used_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        sample_queries(QueryLog(write(tmp_path / name, content)))
    assert raised.value.fix
    with pytest.raises(UserError, match="There is no file of queries"):
        sample_queries(QueryLog(tmp_path / "nowhere.txt"))
    with pytest.raises(UserError, match="sample must be"):
        QueryLog("q.txt", sample=0)
    with pytest.raises(UserError, match="personal_data can't be"):
        QueryLog("q.txt", personal_data="hide")  # type: ignore[arg-type]


def test_near_duplicates_are_one_query_in_its_usual_form(tmp_path: Path) -> None:
    path = write(tmp_path / "q.csv", "query,count\nred bikes!,2\nRed  Bike,5\nRED BIKE,1\nbike red,1\nCafé,1\ncafe,3\n")
    drawn = sample_queries(QueryLog(path))
    assert [(one.text, one.count, one.id) for one in drawn.queries] == [
        ("Red Bike", 8, "1"),
        ("cafe", 4, "5"),
        ("bike red", 1, "4"),
    ]
    assert (drawn.report["forms"], drawn.report["merged"]) == (6, 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [("the churches", "the church"), ("bus", "buses"), ("glass", "glas"), ("iphone 12", "iphone 13"), ("cats", "cat")],
)
def test_plurals_meet_and_other_words_do_not(one: str, other: str) -> None:
    assert (query_key(one) == query_key(other)) == (one in ("the churches", "cats"))


@given(st.text(max_size=40))
def test_any_text_has_a_key_a_language_and_no_error(text: str) -> None:
    assert isinstance(query_key(text), str)
    assert language_of(text)
    said, kinds = masked(text)
    assert kinds or said == text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("a dog in the snow", "en"),
        ("hund im schnee", "de"),
        ("chien dans la neige", "fr"),
        ("perro en la nieve", "es"),
        ("雪の中の犬", "ja"),
        ("눈 속의 개", "ko"),
        ("雪地里的狗", "zh"),
        ("собака в снегу", "ru"),
        ("كلب في الثلج", "ar"),
        ("sunset", "und"),
        ("", "und"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mail anna.b+x@web.de please", "mail [e-mail] please"),
        ("call +49 171 1234567", "call [phone]"),
        ("(415) 555-2671 flyer", "[phone] flyer"),
        ("48.8584, 2.2945 tower", "[coordinates] tower"),
        ("40° 44' 55\" N", "[coordinates]"),
        ("card 4111 1111 1111 1111", "card [number]"),
        ("iban DE89 3704 0044 0532 0130 00", "iban [number]"),
        ("Maria Garcia 12.03.1985 passport", "[name] passport"),
        ("john smith 4711", "[name]"),
    ],
)
def test_personal_data_is_masked(text: str, said: str) -> None:
    assert masked(text)[0] == said


@pytest.mark.parametrize(
    "text",
    ["paris 2019", "2012-2015 trip", "boeing 747-400", "new york 2020", "IMG_20190304_123456", "2019-03-04 12:30",
     "1920x1080 wallpaper", "route 66", "10.000 lakes", "DSC01234.jpg", "12/03/2019 party"],
)  # fmt: skip
def test_what_photos_are_called_is_no_personal_data(text: str) -> None:
    assert masked(text) == (text, ())


def test_personal_data_is_masked_dropped_or_kept_and_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "q.csv", "query,count\nmail anna@x.org,5\nanna@x.org,2\ntree,1\n")
    policies: tuple[Policy, ...] = ("mask", "drop", "keep")
    drawn = {policy: sample_queries(QueryLog(path, personal_data=policy)) for policy in policies}
    said = {policy: [one.text for one in found.queries] for policy, found in drawn.items()}
    assert said == {
        "mask": ["mail [e-mail]", "tree"],
        "drop": ["tree"],
        "keep": ["mail anna@x.org", "anna@x.org", "tree"],
    }
    report = sample_queries(QueryLog(path)).report
    assert report["personal_data"] == {"policy": "mask", "found": {"e-mail": 2}, "dropped": 1}
    assert "anna" not in json.dumps(report)


@given(st.lists(st.integers(1, 10_000), min_size=2, max_size=300), st.integers(1, 300), st.integers(0, 99))
def test_draws_have_their_size_and_their_chances(counts: list[int], sample: int, seed: int) -> None:
    array = np.array(counts, np.float64)
    strata = strata_of(array)
    chances = inclusion(array, strata, sample)
    assert chances.sum() == pytest.approx(min(sample, len(counts)))
    assert ((chances > 0) & (chances <= 1)).all()
    drawn = systematic(chances, strata, np.random.default_rng(seed))
    assert abs(int(drawn.sum()) - min(sample, len(counts))) <= 1
    assert drawn[chances >= 1].all()


def test_chances_are_what_they_say() -> None:
    counts = np.array([100, 40, 20, 10, 5, 4, 3, 2, 1, 1, 1], np.float64)
    strata = strata_of(counts)
    chances = inclusion(counts, strata, 9)
    drawn = np.mean([systematic(chances, strata, np.random.default_rng(seed)) for seed in range(4000)], axis=0)
    assert drawn == pytest.approx(chances, abs=0.03)


def test_strata_hold_a_third_of_the_traffic_each(tmp_path: Path) -> None:
    lines = "".join(f"common {n},100\n" for n in range(10)) + "".join(f"middle {n},10\n" for n in range(100))
    path = write(tmp_path / "q.csv", "query,count\n" + lines + "".join(f"rare {n},1\n" for n in range(1000)))
    drawn = sample_queries(QueryLog(path, sample=90))
    assert {name: one["drawn"] for name, one in drawn.report["strata"].items()} == {"head": 10, "torso": 40, "tail": 40}
    assert sum(one.weight for one in drawn.queries) == pytest.approx(3000)
    assert {one.stratum for one in drawn.queries if one.count == 1} == {"tail"}
    assert drawn.queries == sample_queries(QueryLog(path, sample=90)).queries
    assert drawn.queries != sample_queries(QueryLog(path, sample=90), seed=1).queries
    plain = sample_queries(QueryLog(write(tmp_path / "p.txt", "a\nb\nc\n")))
    assert [(one.weight, one.stratum) for one in plain.queries] == [(1.0, None)] * 3


def test_a_click_further_down_counts_for_more(tmp_path: Path) -> None:
    table = "query,clicked,position\n" + "tree,top,1\n" * 10 + "tree,low,5\n" * 2 + "tree,,\n" * 8
    drawn = sample_queries(QueryLog(write(tmp_path / "q.csv", table)))
    assert drawn.report["clicks"]["fitted"] is False
    found = {one.picture: (one.clicks, round(one.attraction, 9)) for one in drawn.clicks["1"]}
    assert found == {"top": (10.0, 0.5), "low": (2.0, 0.5)}


def test_looking_is_fitted_where_the_log_says_what_was_shown() -> None:
    rng = np.random.default_rng(0)
    looked, attractive = np.array([1.0, 0.6, 0.3, 0.2, 0.1]), rng.random((40, 5))
    clicks = Clicks()
    for _ in range(20_000):
        query, order = int(rng.integers(40)), rng.permutation(5)
        clicked = [f"p{one}" for at, one in enumerate(order) if rng.random() < looked[at] * attractive[query, one]]
        clicks.add(query, LogRow(1, "", clicked=tuple(clicked), shown=tuple(f"p{one}" for one in order)))
    labels = clicks.labels(dict.fromkeys(range(40), 500.0), {query: str(query) for query in range(40)})
    assert clicks.report()["fitted"] is True
    assert clicks.looked_at() == pytest.approx(looked, abs=0.05)
    found = np.array(
        [
            [next((one.attraction for one in labels[str(q)] if one.picture == f"p{p}"), 0) for p in range(5)]
            for q in range(40)
        ]
    )
    assert np.corrcoef(found.ravel(), attractive.ravel())[0, 1] > 0.95


def test_clicks_of_all_forms_of_a_query_add_up(tmp_path: Path) -> None:
    path = write(tmp_path / "q.csv", "query,clicked\nRed bike,p1\nred bikes,p1\ntree,\n")
    drawn = sample_queries(QueryLog(path))
    assert [(one.picture, one.clicks) for one in drawn.clicks["1"]] == [("p1", 2.0)]
    assert drawn.report["clicks"]["without_place"] == 2


def test_memory_does_not_grow_with_the_length_of_a_log(tmp_path: Path) -> None:
    def peak(lines: int) -> int:
        path = write(tmp_path / "q.txt", "".join(f"query {number % 500}\n" for number in range(lines)))
        tracemalloc.start()
        sample_queries(QueryLog(path))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(6_000)  # What is loaded once is loaded now.
    assert peak(60_000) < 1.5 * peak(6_000)


def test_one_query_by_picture_and_words_is_not_the_one_by_words(tmp_path: Path) -> None:
    rows_: list[dict[str, Any]] = [
        {"query": "like this, call +49 171 1234567", "picture": "p1.jpg"},
        {"query": "like this"},
        {"picture": "p1.jpg"},
    ]
    path = write(tmp_path / "q.jsonl", "".join(json.dumps(one) + "\n" for one in rows_))
    found = {(one.text, one.picture) for one in sample_queries(QueryLog(path)).queries}
    assert found == {("like this, call [phone]", "p1.jpg"), ("like this", None), ("", "p1.jpg")}
