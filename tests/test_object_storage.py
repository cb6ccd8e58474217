"""Folders on object storage: what is fetched, sent, kept and refused; with fsspec's storage, and a real S3 server."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sightline
from sightline.errors import MissingExtraError, SightlineError, UserError
from sightline.object_storage import copies, remote_address

fsspec = pytest.importorskip("fsspec")

from fsspec.implementations.dirfs import DirFileSystem  # noqa: E402
from fsspec.implementations.local import LocalFileSystem  # noqa: E402

from pictures import random_picture  # noqa: E402


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for all buckets: `s3://photos/a.jpg` is `photos/a.jpg` in it."""
    place = tmp_path / "buckets"
    place.mkdir()

    class FolderStorage(DirFileSystem):  # type: ignore[misc]
        protocol = "s3"
        cachable = False

        def __init__(self, **_: object) -> None:
            super().__init__(path=str(place), fs=LocalFileSystem(auto_mkdir=True))

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return path.removeprefix("s3://")

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "s3", FolderStorage)
    return place


def _fetched(address: str, verb: str = "scan") -> dict[str, bytes]:
    with copies([address], verb=verb) as here:
        place = here[address]
        return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def _jpeg(seed: int) -> bytes:
    file = io.BytesIO()
    random_picture(seed).save(file, "JPEG")
    return file.getvalue()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    later = time.time_ns() + _write.__dict__.setdefault("count", 0)
    _write.__dict__["count"] += 1_000_000_000
    os.utime(path, ns=(later, later))


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("s3://b/x/", "s3://b/x"),
        (Path("s3://b/x"), "s3://b/x"),
        ("hf://datasets/u/n", "hf://datasets/u/n"),
        ("gs://b", "gs://b"),
        ("http://b/x", None),
        ("s3:x", None),
        ("retriever:s3://b", None),
        (3, None),
    ],
)
def test_addresses(given: object, address: str | None) -> None:
    assert remote_address(given) == address


def test_only_what_changed_is_fetched(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jpg", "2024/b.jpg", "2024/c.jpg"):
        _write(bucket / "photos" / name, name.encode())
    _write(bucket / "photos-2" / "d.jpg", b"another folder")
    assert set(_fetched("s3://photos")) == {"a.jpg", "2024/b.jpg", "2024/c.jpg"}
    _write(bucket / "photos" / "a.jpg", b"changed")
    (bucket / "photos/2024/b.jpg").unlink()
    read: list[str] = []
    before = DirFileSystem.get_file

    def get_file(self: DirFileSystem, name: str, *rest: object) -> None:
        read.append(name)
        before(self, name, *rest)

    monkeypatch.setattr(DirFileSystem, "get_file", get_file)
    assert _fetched("s3://photos") == {"a.jpg": b"changed", "2024/c.jpg": b"2024/c.jpg"}
    assert read == ["photos/a.jpg"]


def test_a_copy_that_was_removed_is_fetched_again_and_nothing_is_removed_there(bucket: Path, tmp_path: Path) -> None:
    _write(bucket / "bench" / "a", b"1")
    _write(bucket / "bench" / "b", b"2")
    _fetched("s3://bench")
    shutil.rmtree(tmp_path / "data/sightline-copies/s3/bench")
    assert _fetched("s3://bench", "score") == {"a": b"1", "b": b"2"}
    assert sorted(path.name for path in (bucket / "bench").iterdir()) == ["a", "b"]


def test_what_a_command_changed_and_removed_is_sent_also_after_an_error(bucket: Path) -> None:
    _write(bucket / "run" / "old", b"1")
    _write(bucket / "run" / "same", b"2")
    with pytest.raises(SightlineError, match="s3://run/new is here"), copies(["s3://run"], verb="run") as here:
        (here["s3://run"] / "new").write_bytes(b"3")
        (here["s3://run"] / "old").unlink()
        (here["s3://run"] / ".sightline-0123456789abcdef.tmp").write_bytes(b"")
        raise SightlineError(f"{here['s3://run']}/new is here")
    assert {path.name: path.read_bytes() for path in (bucket / "run").iterdir()} == {"same": b"2", "new": b"3"}


def test_verbs_that_read_send_nothing(bucket: Path) -> None:
    _write(bucket / "photos" / "a", b"1")
    with copies(["s3://photos"], verb="scan") as here:
        (here["s3://photos"] / "b").write_bytes(b"")
    assert [path.name for path in (bucket / "photos").iterdir()] == ["a"]


def test_what_was_changed_on_both_sides_is_not_overwritten(bucket: Path) -> None:
    _write(bucket / "run" / "a", b"1")
    with pytest.raises(UserError, match="changed there and here"), copies(["s3://run"], verb="run") as here:
        (here["s3://run"] / "a").write_bytes(b"mine")
        _write(bucket / "run" / "a", b"theirs")
    assert (bucket / "run/a").read_bytes() == b"theirs"
    with pytest.raises(UserError, match="changed there and here"):
        _fetched("s3://run")


def test_what_a_killed_command_left_is_sent_by_the_next(bucket: Path, tmp_path: Path) -> None:
    _write(bucket / "run" / "a", b"1")
    _fetched("s3://run")
    (tmp_path / "data/sightline-copies/s3/run/b").write_bytes(b"not sent")
    assert _fetched("s3://run", "run") == {"a": b"1", "b": b"not sent"}
    assert (bucket / "run/b").read_bytes() == b"not sent"


def test_an_emptied_bucket_takes_no_copies_away(bucket: Path) -> None:
    _write(bucket / "photos" / "a", b"1")
    _fetched("s3://photos")
    shutil.rmtree(bucket / "photos")
    with pytest.raises(UserError, match="holds nothing any more"):
        _fetched("s3://photos")


def test_names_that_lead_out_of_the_folder_are_left_alone(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(bucket / "photos" / "a", b"1")
    before = DirFileSystem.ls

    def hostile(self: DirFileSystem, path: str, **options: object) -> object:
        evil = {"name": f"{path}/../../../evil", "type": "file", "size": 1}
        return [*before(self, path, **options), evil, {**evil, "name": f"{path}//x"}]

    monkeypatch.setattr(DirFileSystem, "ls", hostile)
    assert set(_fetched("s3://photos")) == {"a"}
    with pytest.raises(UserError, match="not a valid file name"):
        _fetched("s3://photos/../other")


def test_an_error_of_the_storage_names_the_address(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(DirFileSystem, "ls", refuse)
    with pytest.raises(UserError, match=r"s3://photos can't be used: PermissionError: Access Denied"):
        _fetched("s3://photos")


def test_local_only_and_a_missing_package(bucket: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = sightline.Session(tmp_path / "ws", local_only=True)
    with pytest.raises(UserError, match="not on this computer"):
        sightline.scan("s3://photos", session=session)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtraError, match=r"s3:// needs an optional package"):
        _fetched("s3://photos")


def test_pictures_a_benchmark_and_a_run_in_python(bucket: Path, tmp_path: Path) -> None:
    for number in range(3):
        _write(bucket / "photos" / f"{number}.jpg", _jpeg(number))
    workspace = tmp_path / "ws"
    assert sightline.scan("s3://photos", workspace=workspace).pictures == 3
    sightline.import_files("trec-qrels", _qrels(tmp_path), out="s3://results/bench")
    made = sightline.run("s3://results/bench", "blind:by=random", "s3://results/run", workspace=workspace)
    assert made.attempts == 1
    assert len(sightline.load("s3://results/run", sightline.Run).attempts) == 1
    assert {"run.json", "predictions.jsonl"} <= {path.name for path in (bucket / "results/run").iterdir()}
    scores = sightline.score("s3://results/bench", "s3://results/run")
    assert scores.tasks
    assert (bucket / "results/run/scores.json").is_file()
    with pytest.raises(UserError, match=r"s3://nothing"):
        sightline.scan("s3://nothing", workspace=workspace)


SERVER = "127.0.0.1"


@pytest.fixture
def s3_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """moto's S3 server, in a process of its own, with a bucket `photos`."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server")
    import socket

    with socket.socket() as free:
        free.bind((SERVER, 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", server.__name__, "-H", SERVER, "-p", str(port)], stderr=subprocess.DEVNULL
    )
    url = f"http://{SERVER}:{port}"
    for name, value in {
        "FSSPEC_S3_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }.items():
        monkeypatch.setenv(name, value)
    try:
        for _ in range(150):
            with socket.socket() as trial:
                if trial.connect_ex((SERVER, port)) == 0:
                    break
            time.sleep(0.2)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_with_an_s3_server(s3_server: str, tmp_path: Path) -> None:
    """Scan, make, run and score; each command in a process of its own, as users do."""
    s3fs = pytest.importorskip("s3fs")
    storage = s3fs.S3FileSystem(endpoint_url=s3_server)
    storage.mkdir("photos")
    storage.mkdir("results")
    for number in range(12):
        storage.pipe_file(f"photos/2024/{number}.jpg", _jpeg(number))
    (tmp_path / "queries.txt").write_text("a red bicycle\na house\n")

    def sightline_(*words: str) -> str:
        line = [sys.executable, "-m", "sightline", *words, "--workspace", str(tmp_path / "ws")]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode in (0, 4), done.stderr
        return done.stdout

    assert '"pictures": 12' in sightline_("scan", "s3://photos", "--json")
    storage.rm("photos/2024/3.jpg")
    assert '"pictures": 11' in sightline_("scan", "s3://photos", "--json")
    bench, run = "s3://results/bench", "s3://results/run"
    sightline_("import", "trec-qrels", str(_qrels(tmp_path)), "--out", bench)
    assert storage.exists("results/bench/benchmark.json")
    shutil.rmtree(tmp_path / "data")
    sightline_("run", bench, "--system", "blind:by=random", f"--out={run}")
    sightline_("score", bench, run)
    assert {"run.json", "predictions.jsonl", "scores.json"} <= {
        name.rpartition("/")[2] for name in storage.ls("results/run", detail=False)
    }
    sightline_("validate", run)


def _qrels(folder: Path) -> Path:
    (folder / "qrels").write_text("q1 0 2024/1.jpg 1\nq1 0 2024/2.jpg 0\n")
    return folder / "qrels"
