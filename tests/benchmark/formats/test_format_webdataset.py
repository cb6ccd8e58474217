"""WebDataset shards: samples in and out, hostile archives, and what the real webdataset makes of ours."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.format_tools import benchmark_in, exporting, importing, picture_bytes, put, without_places
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.formats.webdataset import decode_key, encode_key
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.io.files import picture_path, sha256_of
from sightline.types import Benchmark, Corpus, Picture, Relevance, Task

RED, BLUE = picture_bytes("red"), picture_bytes("blue", "JPEG")


def shard(path: Path, *members: tuple[str, bytes | str] | tarfile.TarInfo, mode: str = "w") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
                continue
            name, content = member
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def odd(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


# --- in ----------------------------------------------------------------------------------------------------


def test_samples_are_pictures_with_what_is_said_of_them(tmp_path: Path) -> None:
    facts = {"caption": "a red field", "url": "https://example.org/1", "width": 24, "license": "CC0-1.0"}
    file = shard(
        tmp_path / "00000.tar",
        ("000000001.png", RED),
        ("000000001.json", json.dumps(facts)),
        ("000000001.txt", "a red field\n"),
        ("dir/000000002.jpg", BLUE),
        ("dir/000000002.txt", "a blue field"),
        ("dir/000000002.cls", "7"),
    )
    imported = importing("webdataset", file)
    found = imported.content
    assert isinstance(found, Benchmark)
    assert imported.warnings == ("2 pictures are inside the shards; add --option extract=DIR to have them as files",)
    assert {name: task.text for name, task in found.tasks.items()} == {
        "000000001": "a red field",
        "dir/000000002": "a blue field",
    }
    assert found.truth["000000001"] == Relevance({"000000001": 1})
    first, second = found.corpus.pictures.values()
    assert (first.width, first.rights.license, first.extra) == (24, "CC0-1.0", {"url": "https://example.org/1"})
    assert second.extra == {"label": 7}
    assert picture_path(second.uri, Path()) == tmp_path / "dir/000000002.jpg"


def test_pictures_are_written_out_where_it_is_asked_for(tmp_path: Path) -> None:
    file = shard(tmp_path / "a.tar", ("x.png", RED), ("..%2Fup.jpg", BLUE))
    found = benchmark_in("webdataset", file, FormatOptions(extra={"extract": str(tmp_path / "out")}))
    places = {name: picture_path(picture.uri, Path()) for name, picture in found.corpus.pictures.items()}
    assert set(places) == {"x"}  # A name that begins with dots is hidden, and skipped.
    assert places["x"] == tmp_path / "out" / "x.png" and places["x"].read_bytes() == RED
    assert sha256_of(places["x"]) == found.corpus.pictures["x"].sha256


def test_a_folder_of_shards_is_read_in_order_and_may_be_gzipped(tmp_path: Path) -> None:
    shard(tmp_path / "s" / "b.tar", ("2.jpg", BLUE))
    shard(tmp_path / "s" / "a.tar.gz", ("1.png", RED), mode="w:gz")
    assert list(benchmark_in("webdataset", tmp_path / "s").corpus.pictures) == ["1", "2"]
    with pytest.raises(UserError, match="has no tar file"):
        importing("webdataset", tmp_path)


def test_several_pictures_share_a_caption_and_some_samples_have_none(tmp_path: Path) -> None:
    file = shard(
        tmp_path / "a.tar",
        ("1.left.png", RED),
        ("1.right.jpg", BLUE),
        ("1.txt", "two fields"),
        ("2.txt", "no picture"),
        ("README", "no ending"),
        odd("folder", tarfile.DIRTYPE),
    )
    imported = importing("webdataset", file)
    assert isinstance(imported.content, Benchmark)
    assert imported.content.truth["1"] == Relevance({"1.left.png": 1, "1.right.jpg": 1})
    assert imported.warnings[-1] == '1 sample has no picture: "2"; left out'


def test_a_given_id_wins_unless_the_user_goes_by_key(tmp_path: Path) -> None:
    file = shard(tmp_path / "a.tar", ("1.png", RED), ("1.json", '{"id": 5}'), ("2.png", RED), ("2.json", '{"id": 5}'))
    with pytest.raises(ProblemsError, match=r'a\.tar, 2: picture "5" is there twice; --map id=__key__'):
        importing("webdataset", file)
    found = benchmark_in("webdataset", file, FormatOptions(columns={"id": "__key__"}))
    assert list(found.corpus.pictures) == ["1", "2"]


# --- hostile archives --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (("../../evil.png", RED), "expected a path inside the archive"),
        (("/etc/evil.png", RED), "expected a path inside the archive"),
        (odd("link.png", tarfile.SYMTYPE, "/etc/passwd"), "expected a plain file"),
        (odd("hard.png", tarfile.LNKTYPE, "1.png"), "expected a plain file"),
        (odd("dev.png", tarfile.CHRTYPE), "expected a plain file"),
        (odd("sparse.png", tarfile.GNUTYPE_SPARSE), "expected a plain file"),
        (("2.png", b"not a picture"), "2.png: expected a picture: not a picture"),
        (("2.png", b""), "2.png: expected a picture: empty"),
        (("2.json", "[]"), "2.json: expected a JSON object, got b'[]'"),
        (("2.txt", b"\xff"), "2.txt: expected UTF-8 text"),
        (("1.png", BLUE), "1.png: the file is there twice"),
    ],
)
def test_what_is_wrong_with_a_member_is_said(tmp_path: Path, member: Any, message: str) -> None:
    file = shard(tmp_path / "a.tar", ("1.png", RED), member, ("9.png", BLUE))
    with pytest.raises(ProblemsError) as caught:
        importing("webdataset", file, FormatOptions(extra={"extract": str(tmp_path / "out")}))
    assert "a.tar" in str(caught.value) and message in str(caught.value)
    imported = importing("webdataset", file, FormatOptions(keep_going=True, extra={"extract": str(tmp_path / "out")}))
    assert len(imported.problems) == 1 and isinstance(imported.content, Benchmark)
    assert list(imported.content.corpus.pictures) == ["1", "9"]
    assert {path.name for path in tmp_path.rglob("*.png")} == {"1.png", "9.png"}


def test_a_member_that_claims_to_be_huge_is_refused_before_it_is_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("1.png")
    info.size = 1 << 40
    file = put(tmp_path / "a.tar", info.tobuf())
    with pytest.raises(ProblemsError, match=r"1,099,511,627,776 bytes are more than"):
        importing("webdataset", file)


def test_an_archive_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("1.bin")
    info.size = 200 << 20
    file = tmp_path / "bomb.tar.gz"
    with gzip.open(file, "wb", 1) as out:
        out.write(info.tobuf())
        for _ in range(200):
            out.write(bytes(1 << 20))
    with pytest.raises(UserError, match="unpacks to over 100 times its size"):
        importing("webdataset", file)


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 200, b"\x1f\x8b\x08nonsense"])
def test_what_is_no_archive_is_refused(tmp_path: Path, damage: bytes) -> None:
    with pytest.raises(UserError, match="can't be read"):
        importing("webdataset", put(tmp_path / "a.tar", damage))


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    file = shard(tmp_path / "a.tar", ("1.png", RED), ("2.bin", bytes(10_000)))
    file.write_bytes(file.read_bytes()[:4000])
    with pytest.raises(UserError, match="can't be read as a tar file"):
        importing("webdataset", file)


# --- keys --------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_every_id_has_a_key_that_holds_its_files_together(name: str) -> None:
    key = encode_key(name)
    assert decode_key(key) == name
    assert "." not in key and not key.startswith("/") and not key.endswith("/") and "//" not in key


# --- out and back ------------------------------------------------------------------------------------------


def test_a_benchmark_comes_back_with_its_tasks(sampled: Benchmark, tmp_path: Path) -> None:
    folder = exporting("webdataset", sampled, tmp_path / "out")
    assert without_places(benchmark_in("webdataset", folder)) == without_places(sampled)
    few = benchmark_in("webdataset", folder, FormatOptions(limit=2))
    assert list(few.tasks) == list(sampled.tasks)[:2]


def test_the_same_benchmark_gives_the_same_bytes(sampled: Benchmark, tmp_path: Path) -> None:
    first, second = (exporting("webdataset", sampled, tmp_path / name) for name in ("a", "b"))
    names = sorted(path.name for path in first.iterdir())
    assert [sha256_of(first / name) for name in names] == [sha256_of(second / name) for name in names]


def test_shards_end_at_a_count_and_at_a_size(sampled: Benchmark, tmp_path: Path) -> None:
    def sizes(**options: str) -> list[int]:
        folder = exporting("webdataset", sampled.corpus, tmp_path / str(options), FormatOptions(extra=options))
        found = []
        for path in sorted(folder.glob("pictures-*.tar")):
            with tarfile.open(path) as tar:
                found.append(len({name.partition(".")[0] for name in tar.getnames()}))
        return found

    assert sizes(per_shard="25") == [25, 25, 10]
    by_size = sizes(shard_bytes="200000")
    assert sum(by_size) == 60 and len(by_size) > 2
    assert sizes(shard_bytes="1") == [1] * 60
    for wrong in ("0", "-1", "many", "1.5"):
        with pytest.raises(UserError, match="is not a whole number"):
            sizes(per_shard=wrong)


def test_a_picture_that_is_not_here_keeps_its_address(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pictures = {"a/./b.jpg": Picture("a/./b.jpg", "https://example.org/b.jpg", width=3)}
    folder = exporting("webdataset", Corpus("c", pictures), tmp_path / "out")
    assert "1 picture is not here" in caplog.text
    assert benchmark_in("webdataset", folder).corpus.pictures == pictures


@pytest.mark.slow
def test_the_real_loader_reads_ours(sampled: Benchmark, tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="the interop extra has the real loader")
    folder = exporting("webdataset", sampled, tmp_path / "out", FormatOptions(extra={"per_shard": "25"}))
    shards = [str(path) for path in sorted(folder.glob("*.tar"))]
    samples = list(webdataset.WebDataset(shards, shardshuffle=False).decode("pil"))
    assert [sample["json"]["id"] for sample in samples] == list(sampled.corpus.pictures)
    for sample in samples:
        (image,) = (sample[ending] for ending in ("jpg", "png", "webp", "gif", "bmp", "tif") if ending in sample)
        assert image.size[0] > 0 if hasattr(image, "size") else image
    texts = {text for sample in samples if "txt" in sample for text in sample["txt"].split("\n")}
    assert texts - {""} == {task.text for task in sampled.tasks.values() if task.kind == "rank" and not task.pictures}


def test_samples_have_the_same_files_whatever_their_pictures_are(tmp_path: Path) -> None:
    folder = mixed(tmp_path)
    with tarfile.open(folder / "pictures-000000.tar") as tar:
        endings = [name.rpartition(".")[2] for name in tar.getnames()]
    assert endings == ["png", "json", "txt", "png", "json", "txt"]
    found = benchmark_in("webdataset", folder, FormatOptions(extra={"extract": str(tmp_path / "again")}))
    assert list(found.corpus.pictures) == ["a.png", "b.jpg"] and list(found.tasks) == ["q"]
    assert (tmp_path / "again/b.jpg").read_bytes() == BLUE


def mixed(tmp_path: Path) -> Path:
    """A PNG with a query for it and a JPEG without, as a folder of shards."""
    for name, content in (("a.png", RED), ("b.jpg", BLUE)):
        put(tmp_path / "in" / name, content)
    corpus = Corpus("c", {name: Picture(name, (tmp_path / "in" / name).as_uri()) for name in ("a.png", "b.jpg")})
    asked = Benchmark("b", corpus, {"q": Task("q", "rank", ("red",))}, {"q": Relevance({"a.png": 1})})
    return exporting("webdataset", asked, tmp_path / "out")


@pytest.mark.slow
def test_datasets_opens_ours(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    shards = [str(path) for path in sorted(mixed(tmp_path).glob("*.tar"))]
    found = datasets.load_dataset(
        "webdataset", data_files={"train": shards}, split="train", cache_dir=str(tmp_path / "cache")
    )
    assert [row["png"].format for row in found] == ["PNG", "JPEG"]
    assert [(row["json"]["id"], row["txt"]) for row in found] == [("a.png", "red"), ("b.jpg", "")]


@pytest.mark.slow
def test_we_read_what_the_real_writer_wrote(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="the interop extra has the real writer")
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as sink:
        sink.write({"__key__": "x/1", "png": RED, "txt": "red", "json": {"width": 24}, "cls": 3})
    found = benchmark_in("webdataset", tmp_path / "a.tar")
    picture = found.corpus.pictures["x/1"]
    assert replace(picture, uri="", sha256=None) == Picture("x/1", "", width=24, extra={"label": 3})
    assert found.tasks["x/1"].text == "red"
