"""DISBench's folder: what its files become, what is refused, and that it comes back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.format_tools import exporting, importing
from sightline.benchmark.formats import FormatOptions, dataset_folder
from sightline.benchmark.problems import ProblemsError
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.exchange import import_files
from sightline.io.files import picture_path
from sightline.metrics import scores
from sightline.types import Benchmark, Corpus, Group, Picture, PictureRef, PictureSet, Scope, Task

FORMAT = "disbench"
ANNE, BOB = "10287726@N02", "35034347485@N01"
SHA = "AB" * 32


def lines(rows: list[Any]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def photo(name: str, **metadata: Any) -> dict[str, Any]:
    known = {
        "taken_time": "2010-04-10 13:52:57",
        "longitude": -1.239802,
        "latitude": 51.754123,
        "accuracy": 16.0,
        "address": "Cherwell Street, Oxford, United Kingdom",
        "capturedevice": "Canon EOS 5D",
    }
    return {"photo_id": name, "metadata": known | metadata}


def query(name: str, user: str, answer: list[Any], **more: Any) -> dict[str, Any]:
    return {"query_id": name, "user_id": user, "query": f"Find {name}.", "answer": answer, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two users who have a photo id in common, three queries, one picture, one list of hashes."""
    root = tmp_path / "DISBench"
    for name in ("metadata", "photo_ids", f"images/{ANNE}"):
        (root / name).mkdir(parents=True)
    queries = [
        query("1", ANNE, ["77", "78"], event_type="intra-event"),
        query("2", BOB, ["77"], event_type="inter-event", note="kept"),
        query("3", BOB, []),
    ]
    (root / "queries.jsonl").write_bytes(lines(queries))
    (root / "metadata" / f"{ANNE}.jsonl").write_bytes(lines([photo("77"), photo("78", lens="50 mm"), photo("79")]))
    (root / "metadata" / f"{BOB}.jsonl").write_bytes(
        lines([photo("77", taken_time=None, latitude=None, longitude=None, address="", capturedevice=None)])
    )
    (root / "photo_ids" / f"{ANNE}.txt").write_text(f"77 {SHA}\n79,d41d8cd9\n78\n")
    (root / "images" / ANNE / "77.jpg").write_bytes(b"pixels")
    return root


def read(path: Path, **options: Any) -> Benchmark:
    content = importing(FORMAT, path, FormatOptions(**options)).content
    assert isinstance(content, Benchmark)
    return content


def test_what_the_files_become(folder: Path) -> None:
    imported = importing(FORMAT, folder, FormatOptions())
    found = imported.content
    assert isinstance(found, Benchmark)
    assert imported.problems == () and imported.warnings == ()
    assert found.corpus.groups == (
        Group(ANNE, "owner", (f"{ANNE}/77", f"{ANNE}/78", f"{ANNE}/79")),
        Group(BOB, "owner", (f"{BOB}/77",)),
    )
    assert found.tasks["1"] == Task(
        "1", "select", ("Find 1.",), scope=Scope(owner=ANNE), labels={"event_type": ("intra-event",)}
    )
    assert found.tasks["2"].extra == {"note": "kept"}
    assert found.tasks["3"].labels == {"event_type": ("unlabelled",)}
    assert found.truth == {
        "1": PictureSet((f"{ANNE}/77", f"{ANNE}/78")),
        "2": PictureSet((f"{BOB}/77",)),
        "3": PictureSet(()),
    }
    first = found.corpus.pictures[f"{ANNE}/77"]
    assert first.taken_at == datetime(2010, 4, 10, 13, 52, 57) and first.taken_at_is_naive
    assert (first.lat, first.lon, first.device) == (51.754123, -1.239802, "Canon EOS 5D")
    assert (first.sha256, first.extra) == (SHA.lower(), {"accuracy": 16.0})
    assert picture_path(first.uri, folder) == folder / "images" / ANNE / "77.jpg"
    assert found.corpus.pictures[f"{ANNE}/78"].extra == {"accuracy": 16.0, "lens": "50 mm"}
    assert found.corpus.pictures[f"{ANNE}/79"].extra == {"accuracy": 16.0, "hash": "d41d8cd9"}
    bare = found.corpus.pictures[f"{BOB}/77"]
    assert (bare.taken_at, bare.lat, bare.lon, bare.address, bare.device) == (None, None, None, None, None)


def test_import_counts_labels_and_missing_pictures(folder: Path, tmp_path: Path) -> None:
    summary = import_files("disbench", folder, tmp_path / "bench")
    assert (summary.tasks, summary.judgments, summary.pictures, summary.missing_pictures) == (3, 3, 4, 3)
    assert summary.labels == {"event_type": {"intra-event": 1, "inter-event": 1, "unlabelled": 1}}
    # The picture that is there has another content than its hash says, the others are not there.
    found = Counter(problem.field for problem in validate_benchmark(tmp_path / "bench", check_pictures=True))
    assert found == {"uri": 3, "sha256": 1}


def test_an_unknown_event_type_is_kept(folder: Path) -> None:
    (folder / "queries.jsonl").write_bytes(lines([query("1", ANNE, ["77"], event_type="cross-event")]))
    assert read(folder).tasks["1"].labels == {"event_type": ("cross-event",)}


def test_what_has_no_label_falls_into_the_slice_that_scores_know() -> None:
    assert dataset_folder.UNLABELLED == scores.UNLABELLED


def test_a_part_of_the_data_set_will_do(folder: Path) -> None:
    (folder / "metadata" / f"{BOB}.jsonl").unlink()
    imported = importing(FORMAT, folder, FormatOptions())
    assert isinstance(imported.content, Benchmark)
    assert list(imported.content.tasks) == ["1"]
    assert imported.warnings == (f'2 queries are left out: there is no metadata of "{BOB}"',)


def test_users_can_be_chosen(folder: Path) -> None:
    found = read(folder, extra={"users": BOB})
    assert list(found.tasks) == ["2", "3"] and list(found.corpus.pictures) == [f"{BOB}/77"]
    with pytest.raises(UserError, match='no user "someone"'):
        read(folder, extra={"users": f"{BOB},someone"})


def test_a_limit_takes_the_first_queries_and_their_users(folder: Path) -> None:
    found = read(folder, limit=1)
    assert list(found.tasks) == ["1"] and [group.id for group in found.corpus.groups] == [ANNE]


def test_metadata_beside_the_photo_id_is_read_as_well(folder: Path) -> None:
    nested = read(folder).corpus.pictures
    for file in (folder / "metadata").iterdir():
        rows = map(orjson.loads, file.read_bytes().splitlines())
        file.write_bytes(lines([{"photo_id": row["photo_id"], **row["metadata"]} for row in rows]))
    assert read(folder).corpus.pictures == nested


def test_photos_come_from_their_list_where_there_is_no_metadata(folder: Path) -> None:
    (folder / "metadata" / f"{ANNE}.jsonl").unlink()
    found = read(folder)
    assert found.truth["1"] == PictureSet((f"{ANNE}/77", f"{ANNE}/78"))
    assert found.corpus.pictures[f"{ANNE}/77"].sha256 == SHA.lower()


@pytest.mark.parametrize("line", [f"77\t{SHA}", f"77 {SHA}", f"{SHA} 77", f"77,{SHA}", f"  77 ; {SHA}  "])
def test_lists_of_hashes_are_read_in_any_layout(folder: Path, line: str) -> None:
    (folder / "photo_ids" / f"{ANNE}.txt").write_text(line + "\n")
    assert read(folder).corpus.pictures[f"{ANNE}/77"].sha256 == SHA.lower()


def test_a_list_that_names_other_photos_is_reported(folder: Path) -> None:
    (folder / "photo_ids" / f"{ANNE}.txt").write_text("photo_id hash\n77 x\n")
    imported = importing(FORMAT, folder, FormatOptions())
    assert "1 line names no photo" in imported.warnings[0]
    assert isinstance(imported.content, Benchmark) and len(imported.content.corpus.pictures) == 4


QUERIES, METADATA = "queries.jsonl", f"metadata/{ANNE}.jsonl"


@pytest.mark.parametrize(
    ("file", "rows", "line", "field", "message"),
    [
        (QUERIES, [query("1", ANNE, ["77", "99"])], 1, "answer.1", '"99" is not a photo of user'),
        (QUERIES, [query("1", ANNE, []), query("1", ANNE, [])], 2, "query_id", '"1" is already on line 1'),
        (QUERIES, [query("1", ANNE, []), {"query_id": "2"}], 2, "user_id", "expected an id, but it is not there"),
        (QUERIES, [query("1", ANNE, []) | {"answer": "77"}], 1, "answer", "expected a list of ids, got '77'"),
        (QUERIES, [query("1", ANNE, [77])], 1, "answer.0", "expected an id, got 77"),
        (QUERIES, [query("1", ANNE, []) | {"query": 5}], 1, "query", "expected text, got 5"),
        (QUERIES, [query("1", ANNE, [], event_type=["x"])], 1, "event_type", "expected text"),
        (QUERIES, ["text"], 1, None, "expected an object"),
        (METADATA, [photo("77"), photo("78"), photo("77")], 3, "photo_id", '"77" is already on line 1'),
        (METADATA, [photo("77"), photo("../x")], 2, "photo_id", "expected an id that can name a file"),
        (METADATA, [photo("77", taken_time="10 April")], 1, "metadata.taken_time", "expected a time like 2010-04-10"),
        (METADATA, [photo("77", taken_time=1270907577)], 1, "metadata.taken_time", "expected a time like 2010-04-10"),
        (METADATA, [photo("77", latitude=91)], 1, "metadata.latitude", "expected a number from -90 to 90, got 91"),
        (METADATA, [photo("77", longitude="west")], 1, "metadata.longitude", "expected a number from -180 to 180"),
        (METADATA, [photo("77", address=["x"])], 1, "metadata.address", "expected text"),
        (METADATA, [{"photo_id": "77", "metadata": "x"}], 1, "metadata", "expected an object, got 'x'"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(
    folder: Path, file: str, rows: list[Any], line: int, field: str | None, message: str
) -> None:
    (folder / file).write_bytes(lines(rows))
    with pytest.raises(ProblemsError) as refused:
        read(folder)
    (problem,) = refused.value.problems
    assert (problem.file, problem.line, problem.field) == (str(folder / file), line, field)
    assert message in problem.message


def test_keep_going_collects_all_wrong_lines_and_imports_the_rest(folder: Path) -> None:
    (folder / QUERIES).write_bytes(
        lines([query("1", ANNE, ["99"]), query("2", ANNE, ["77"])]) + b"{broken\n" + lines([query("2", ANNE, [])])
    )
    (folder / METADATA).write_bytes(lines([photo("77"), photo("78", latitude="x")]))
    imported = importing(FORMAT, folder, FormatOptions(keep_going=True))
    assert isinstance(imported.content, Benchmark)
    assert list(imported.content.tasks) == ["2"]
    places = [(Path(problem.file).name, problem.line, problem.field) for problem in imported.problems]
    assert sorted(places, key=str) == sorted(
        [
            ("queries.jsonl", 3, None),
            ("queries.jsonl", 4, "query_id"),
            (f"{ANNE}.jsonl", 2, "metadata.latitude"),
            ("queries.jsonl", 1, "answer.0"),
        ],
        key=str,
    )


def test_columns_can_be_mapped(folder: Path) -> None:
    row = {"qid": "q", "user_id": ANNE, "text": "Find it.", "answer": ["77"], "event_type": "x"}
    (folder / QUERIES).write_bytes(lines([row]))
    found = read(folder, columns={"query_id": "qid", "query": "text"})
    assert found.tasks["q"].prompt == ("Find it.",) and found.tasks["q"].extra == {}


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no queries\.jsonl"):
        read(tmp_path)
    (tmp_path / "queries.jsonl").write_bytes(b"")
    with pytest.raises(UserError, match="has no metadata"):
        read(tmp_path)
    with pytest.raises(UserError, match='no option "pictures"'):
        read(tmp_path, extra={"pictures": "copy"})


@pytest.mark.slow
def test_the_whole_data_set_s_size(tmp_path: Path) -> None:
    """122 queries (57 and 65), 57 users, 109,467 photos, as published."""
    users = [f"{number}@N00" for number in range(57)]
    (tmp_path / "metadata").mkdir()
    for place, user in enumerate(users):
        count = 109_467 // 57 + (place < 109_467 % 57)
        (tmp_path / "metadata" / f"{user}.jsonl").write_bytes(lines([photo(str(n)) for n in range(count)]))
    kinds = ["intra-event"] * 57 + ["inter-event"] * 65
    queries = [query(str(n), users[n % 57], ["0", "7"], event_type=kind) for n, kind in enumerate(kinds)]
    (tmp_path / "queries.jsonl").write_bytes(lines(queries))
    found = read(tmp_path)
    assert (len(found.tasks), len(found.corpus.groups), len(found.corpus.pictures)) == (122, 57, 109_467)
    assert Counter(task.labels["event_type"][0] for task in found.tasks.values()) == Counter(kinds)


# --- out ---------------------------------------------------------------------------------------------------


def write(benchmark: Benchmark, path: Path, **extra: str) -> None:
    exporting(FORMAT, benchmark, path, FormatOptions(extra=extra))


def without_places(benchmark: Benchmark) -> Benchmark:
    pictures = {name: replace(picture, uri="") for name, picture in benchmark.corpus.pictures.items()}
    return replace(benchmark, corpus=replace(benchmark.corpus, pictures=pictures), card={})


def test_the_folder_comes_back(folder: Path, tmp_path: Path) -> None:
    first = read(folder)
    write(first, tmp_path / "again")
    assert without_places(read(tmp_path / "again")) == without_places(first)
    assert (tmp_path / "again" / "images" / ANNE / "77.jpg").read_bytes() == b"pixels"
    rows = [orjson.loads(line) for line in (tmp_path / "again" / QUERIES).read_bytes().splitlines()]
    assert rows == [orjson.loads(line) for line in (folder / QUERIES).read_bytes().splitlines()]
    row = orjson.loads((tmp_path / "again" / METADATA).read_bytes().splitlines()[0])
    assert row == photo("77")


def test_pictures_need_not_be_copied(folder: Path, tmp_path: Path) -> None:
    write(read(folder), tmp_path / "again", pictures="none")
    assert not (tmp_path / "again" / "images").exists()
    with pytest.raises(UserError, match="choose from copy, none"):
        write(read(folder), tmp_path / "third", pictures="all")


def test_nothing_that_is_there_is_replaced(folder: Path) -> None:
    with pytest.raises(UserError, match="is not empty"):
        write(read(folder), folder)
    assert (folder / "images" / ANNE / "77.jpg").exists()


def test_the_samples_can_be_written_and_read(
    sampled: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(sampled, tmp_path / "dis")
    assert "left out" in caplog.text and "rank tasks" in caplog.text
    found = read(tmp_path / "dis")
    select = [task for task in sampled.tasks.values() if task.kind == "select"]
    assert [task.prompt for task in found.tasks.values()] == [task.prompt for task in select]
    assert len(found.corpus.pictures) == sum(len(group.pictures) for group in sampled.corpus.groups_of("owner"))
    assert import_files("disbench", tmp_path / "dis", tmp_path / "bench").missing_pictures == 0


def small(task: Task, *, groups: tuple[Group, ...] = ()) -> Benchmark:
    pictures = {name: Picture(name, f"https://example.org/{name}") for name in ("a", "b/c")}
    return Benchmark("small", Corpus("small", pictures, groups), {task.id: task}, {task.id: PictureSet(("b/c",))})


def test_a_corpus_without_owners_is_one_history(tmp_path: Path) -> None:
    write(small(Task("t", "select", ("Find c.",))), tmp_path / "dis")
    found = read(tmp_path / "dis")
    assert found.tasks["t"].scope == Scope(owner="all")
    assert found.truth["t"] == PictureSet(("all/b%2Fc",))


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Task("t", "select", (PictureRef("a"), "like this")), "shows a picture"),
        (Task("t", "select", ("x",), scope=Scope(pictures=("a",))), "searches a part"),
        (Task("t", "select", ("x",)), "searches everyone's pictures"),
        (Task("t", "select", ("x",), scope=Scope(owner="nobody")), 'searches pictures of "nobody"'),
        (Task("t", "select", ("x",), scope=Scope(owner="o")), 'picture "b/c" is not one of "o"'),
        (Task("t", "rank", ("x",)), "has no select task"),
    ],
)
def test_what_disbench_can_not_hold_is_refused(tmp_path: Path, task: Task, message: str) -> None:
    with pytest.raises(UserError, match=message):
        write(small(task, groups=(Group("o", "owner", ("a",)),)), tmp_path / "dis")
    assert not (tmp_path / "dis").exists()


def test_a_group_may_name_pictures_that_are_gone(tmp_path: Path) -> None:
    benchmark = small(
        Task("t", "select", ("x",), scope=Scope(owner="o")), groups=(Group("o", "owner", ("b/c", "gone")),)
    )
    write(benchmark, tmp_path / "dis")
    assert list(read(tmp_path / "dis").corpus.pictures) == ["o/b%2Fc"]


def test_two_pictures_can_not_be_one_photo(tmp_path: Path) -> None:
    pictures = {name: Picture(name, f"https://example.org/{name}") for name in ("o/x", "x")}
    task = Task("t", "select", ("x",), scope=Scope(owner="o"))
    corpus = Corpus("c", pictures, (Group("o", "owner", ("o/x", "x")),))
    with pytest.raises(UserError, match='would both be photo "x"'):
        write(Benchmark("b", corpus, {"t": task}, {"t": PictureSet(())}), tmp_path / "dis")


names = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1, max_size=8).filter(
    lambda name: name.strip() == name and name not in (".", "..")
)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
times = st.datetimes(min_value=datetime(1, 1, 1)).map(lambda time: time.replace(microsecond=0))


@st.composite
def histories(draw: st.DrawFn) -> Benchmark:
    """Any benchmark that DISBench can hold in full."""
    owners = draw(st.lists(names, min_size=1, max_size=2, unique=True))
    pictures, groups, tasks, truth = {}, [], {}, {}
    for owner in owners:
        ids = [f"{owner}/{name}" for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))]
        groups.append(Group(owner, "owner", tuple(ids)))
        for name in ids:
            pictures[name] = Picture(
                name,
                "",
                sha256=draw(st.none() | st.binary(min_size=32, max_size=32).map(bytes.hex)),
                taken_at=draw(st.none() | times),
                lat=draw(st.none() | st.floats(-90, 90)),
                lon=draw(st.none() | st.floats(-180, 180)),
                address=draw(st.none() | words),
                device=draw(st.none() | words),
                extra=draw(st.just({}) | st.fixed_dictionaries({"accuracy": st.floats(0, 16), "more": words})),
            )
        task = f"about {owner}"
        labels = {"event_type": (draw(st.sampled_from(["intra-event", "inter-event", "unlabelled"])),)}
        tasks[task] = Task(task, "select", (draw(words),), scope=Scope(owner=owner), labels=labels)
        truth[task] = PictureSet(tuple(draw(st.lists(st.sampled_from(ids), unique=True))))
    groups.sort(key=lambda group: group.id)
    ordered = {name: pictures[name] for group in groups for name in group.pictures}
    return Benchmark("any", Corpus("any", ordered, tuple(groups)), tasks, truth)


@settings(deadline=None, max_examples=40)
@given(histories())
def test_any_history_comes_back_equal(benchmark: Benchmark) -> None:
    with TemporaryDirectory() as temporary:
        write(benchmark, Path(temporary) / "dis")
        found = without_places(read(Path(temporary) / "dis", name="any"))
    assert replace(found, metrics=(), card={}) == benchmark


def test_an_offset_is_lost_and_wall_clock_time_stays(tmp_path: Path) -> None:
    picture = Picture("o/x", "https://example.org/x", taken_at=datetime(2020, 5, 1, 12, 30, tzinfo=UTC))
    corpus = Corpus("c", {"o/x": picture}, (Group("o", "owner", ("o/x",)),))
    task = Task("t", "select", ("x",), scope=Scope(owner="o"))
    write(Benchmark("b", corpus, {"t": task}, {"t": PictureSet(("o/x",))}), tmp_path / "dis")
    assert read(tmp_path / "dis").corpus.pictures["o/x"].taken_at == datetime(2020, 5, 1, 12, 30)
