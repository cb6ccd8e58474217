"""Films: key frames where the scene changes, of real files that PyAV writes here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from PIL import Image

from pictures import filtered, random_picture
from search_tools import Colours
from sightline.calls.session import Session
from sightline.config import Config
from sightline.config.settings import ScanSettings
from sightline.corpus.pixels import missing_decoders
from sightline.corpus.scan import scan_folder
from sightline.corpus.store import CorpusStore
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.pictures import scan
from sightline.types import Picture

av = pytest.importorskip("av")
SIZE = (320, 240)


def shoot(
    path: Path,
    scenes: tuple[int, ...],
    seconds: float = 2.0,
    rate: int = 10,
    size: tuple[int, int] = SIZE,
    metadata: dict[str, str] | None = None,
) -> Path:
    """A film of still scenes, with a key frame each second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", options={"movflags": "use_metadata_tags"} if path.suffix == ".mov" else {}) as made:
        made.metadata.update(metadata or {})
        stream = made.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = *size, "yuv420p", rate
        for scene in scenes:
            frame = av.VideoFrame.from_image(random_picture(scene, size))
            for _ in range(int(seconds * rate)):
                made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
    return path


def frames(workspace: Path) -> list[Picture]:
    return [each for each in open_corpus(workspace).pictures.values() if "film_time" in each.extra]


def opened(picture: Picture) -> Image.Image:
    assert picture.path is not None
    return Image.open(picture.path)


def test_a_picture_for_each_scene(tmp_path: Path) -> None:
    photos, workspace = tmp_path / "photos", tmp_path / "ws"
    for name in ("clip.mp4", "clip.avi", "clip.mkv", "clip.mov"):
        shoot(photos / "2021" / name, (1, 2, 3))
    random_picture(9).save(photos / "a.jpg")
    found = scan(photos, workspace=workspace)
    assert found.pictures == 13 and not found.skipped
    clip = [each for each in frames(workspace) if each.id.startswith("2021/clip.mp4/")]
    assert [each.extra["film_time"] for each in clip] == pytest.approx([0, 2, 4], abs=0.2)
    assert {each.extra["film_seconds"] for each in clip} == {6.0}
    assert sum(each.extra["poster"] is True for each in clip) == 1
    assert [opened(each).size for each in clip] == [SIZE] * 3 and not list(photos.rglob("*.jpg"))[1:]
    for each, scene in zip(clip, (1, 2, 3), strict=True):
        shown, drawn = opened(each).resize((8, 6)), random_picture(scene, SIZE).resize((8, 6))
        apart = [abs(one - other) for one, other in zip(shown.tobytes(), drawn.tobytes(), strict=True)]
        assert sum(apart) / len(apart) < 6, "it shows the scene"
    (group,) = (each for each in open_corpus(workspace).groups if each.id == "film/2021/clip.mp4")
    assert group.kind == "film" and list(group.pictures) == [each.id for each in clip]
    assert len(filtered(workspace, 'film:"2021/clip.mp4" and poster')) == 1


def test_when_and_where_a_phone_filmed(tmp_path: Path) -> None:
    shoot(
        tmp_path / "photos" / "a.mov",
        (1, 2),
        metadata={
            "com.apple.quicktime.creationdate": "2021-07-01T14:00:00+0200",
            "com.apple.quicktime.location.ISO6709": "+41.9000+012.5000+020.000/",
            "com.apple.quicktime.make": "Apple",
            "com.apple.quicktime.model": "iPhone 12",
        },
    )
    (tmp_path / "photos" / "a.mov.json").write_text('{"title": "a.mov", "people": [{"name": "Ana"}]}')
    scan(tmp_path / "photos", workspace=tmp_path / "ws")
    first, second = frames(tmp_path / "ws")
    times = [each.taken_at.isoformat() for each in (first, second) if each.taken_at is not None]
    assert times[0] == "2021-07-01T14:00:00+02:00" and times[1].startswith("2021-07-01T14:00:0")
    assert (second.lat, second.lon, second.device) == (41.9, 12.5, "Apple iPhone 12")
    assert first.extra["people"] == ["Ana"]


def test_a_phone_that_was_held_upright(tmp_path: Path) -> None:
    """The display matrix in the track's header turns the film by 90 degrees."""
    path = shoot(tmp_path / "photos" / "a.mp4", (1,))
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4 + 40
    data[at : at + 36] = b"".join(value.to_bytes(4, "big", signed=True) for value in _QUARTER)
    path.write_bytes(data)
    scan(path.parent, workspace=tmp_path / "ws")
    (frame,) = frames(tmp_path / "ws")
    assert (frame.width, frame.height) == SIZE[::-1]
    shown, drawn = opened(frame).resize((6, 8)), random_picture(1, SIZE).rotate(-90, expand=True).resize((6, 8))
    apart = [abs(one - other) for one, other in zip(shown.tobytes(), drawn.tobytes(), strict=True)]
    assert sum(apart) / len(apart) < 6


_QUARTER = (0, 1 << 16, 0, -(1 << 16), 0, 0, SIZE[1] << 16, 0, 1 << 30)


def test_films_that_change_move_and_go(tmp_path: Path) -> None:
    photos, workspace = tmp_path / "photos", tmp_path / "ws"
    path = shoot(photos / "a.mp4", (1, 2, 3))
    shoot(photos / "b.mp4", (7, 8))
    scan(photos, workspace=workspace)
    assert scan(photos, workspace=workspace).changes.new == 0, "nothing is read twice"
    shoot(path, (1, 4))
    scan(photos, workspace=workspace)
    assert [each.id.partition("/")[0] for each in frames(workspace)] == ["a.mp4"] * 2 + ["b.mp4"] * 2
    path.rename(photos / "c.mp4")
    moved = scan(photos, workspace=workspace)
    assert moved.changes.moved == 1 and moved.changes.deleted == 0
    assert [each.id.partition("/")[0] for each in frames(workspace)] == ["b.mp4"] * 2 + ["c.mp4"] * 2
    assert open_corpus(workspace).pictures["a.mp4/00000.000s.jpg"].id == "c.mp4/00000.000s.jpg", "the old id finds it"
    (photos / "b.mp4").unlink()
    scan(photos, workspace=workspace)
    assert len(frames(workspace)) == 2 and all(
        each.path is not None and each.path.is_file() for each in frames(workspace)
    )
    assert len(list((workspace / "films").rglob("*.jpg"))) == 2, "frames of what is gone are removed"


def test_limits(tmp_path: Path) -> None:
    shoot(tmp_path / "photos" / "a.mp4", tuple(range(12)), seconds=1.0)

    def found(**settings: float) -> list[float]:
        scan(tmp_path / "photos", session=Session(tmp_path / "ws", Config(scan=ScanSettings(**settings))))  # type: ignore[arg-type]
        return [float(str(each.extra["film_time"])) for each in frames(tmp_path / "ws")]

    assert len(found()) == 12
    assert len(found(film_pictures=5)) == 5
    assert found(film_minutes=0.05)[-1] < 3.5
    assert open_corpus(tmp_path / "ws").pictures and found(film_pictures=0) == []


def _random(path: Path) -> None:
    path.write_bytes(random_picture(1, (400, 300)).tobytes())


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def _no_index(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"moov") - 4])


def _damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    start = data.index(b"mdat") + 8
    data[start : start + 20_000] = random_picture(3, (100, 100)).tobytes()[:20_000]
    path.write_bytes(data)


def _giant(path: Path) -> None:
    """Frames of 1.9 million pixels, where one million are allowed."""
    shoot(path, (1, 2), size=(1600, 1200))


def _endless(path: Path) -> None:
    """A clock that says that it lasts for years."""
    data = bytearray(path.read_bytes())
    for box in (b"mvhd", b"tkhd", b"mdhd"):
        at = data.index(box) + 4 + (20 if box == b"tkhd" else 16)
        data[at : at + 4] = b"\x7f\xff\xff\xff"
    path.write_bytes(data)


@pytest.mark.parametrize(
    "harm", [_random, _cut, _no_index, _damaged, _giant, _endless, lambda path: path.write_bytes(b"")]
)
def test_a_hostile_film_costs_only_itself(harm: Callable[[Path], None], tmp_path: Path) -> None:
    harm(shoot(tmp_path / "photos" / "bad.mp4", (1, 2)))
    shoot(tmp_path / "photos" / "good.mp4", (3, 4))
    found = scan(tmp_path / "photos", session=Session(tmp_path / "ws", Config(scan=ScanSettings(max_pixels=1_000_000))))
    good = [each for each in frames(tmp_path / "ws") if each.id.startswith("good.mp4")]
    assert len(good) == 2 and found.seconds < 60
    with CorpusStore(tmp_path / "ws") as store:
        details = [detail for *_, detail in store.skipped()]
    assert not any("Errno" in detail or str(tmp_path) in detail for detail in details), "reasons are plain words"
    assert found.skipped or harm in (_endless, _damaged), "it is named, or what can be seen of it is shown"


class _Listener(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)


@pytest.fixture
def listener() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), _Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["a.mp4", "a.avi", "a.mkv"])
def test_a_film_that_is_a_list_of_addresses_is_not_followed(name: str, listener: HTTPServer, tmp_path: Path) -> None:
    secret = shoot(tmp_path / "secret.mp4", (1, 2))
    lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXTINF:4,", f"http://127.0.0.1:{listener.server_port}/x.ts",
             "#EXTINF:4,", secret.as_uri(), "#EXTINF:4,", f"concat:{secret}", "#EXT-X-ENDLIST"]  # fmt: skip
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / name).write_text("\n".join(lines))
    found = scan(tmp_path / "photos", workspace=tmp_path / "ws")
    assert found.pictures == 0 and found.skipped == {"unreadable": 1} and not _Listener.asked


def test_a_picture_that_calls_itself_a_film(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    random_picture(1).save(tmp_path / "photos" / "a.jpg")
    (tmp_path / "photos" / "a.jpg").rename(tmp_path / "photos" / "a.mp4")
    found = scan(tmp_path / "photos", workspace=tmp_path / "ws")
    assert found.pictures == 1 and found.warnings["wrong extension"] == 1


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shoot(tmp_path / "photos" / "a.mp4", (1, 2))
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "av.py").write_text("raise ImportError")
    for module in ("sightline.corpus.scan", "sightline.corpus.file_reader"):
        names = {"missing_decoders": lambda: ("video",)} if module.endswith("scan") else {"has_video": lambda: False}
        for name, value in names.items():
            monkeypatch.setattr(f"{module}.{name}", value)
    found = scan_folder(tmp_path / "photos", tmp_path / "ws", Config(), read_all=_here)
    (kind,) = found.skipped_kinds
    assert found.skipped == {"video": 1} and kind.kind == "videos" and str(kind) == "videos: 1 .mp4 (a.mp4)"
    monkeypatch.undo()
    assert not missing_decoders() and scan(tmp_path / "photos", workspace=tmp_path / "ws").pictures == 2


def _here(function: Callable[[object], object], jobs: Iterator[object], **_: object) -> Iterator[tuple[object, object]]:
    return ((job, function(job)) for job in jobs)


def test_a_film_in_an_album_of_a_takeout(tmp_path: Path) -> None:
    shoot(tmp_path / "photos" / "Rome" / "a.mp4", (1, 2))
    (tmp_path / "photos" / "Rome" / "metadata.json").write_text('{"title": "Rome", "date": {"timestamp": "1"}}')
    found = scan(tmp_path / "photos", workspace=tmp_path / "ws")
    assert len(filtered(tmp_path / "ws", "album:Rome")) == 2 and not found.warnings and not found.skipped


def test_albums_and_folders_know_frames(tmp_path: Path) -> None:
    shoot(tmp_path / "photos" / "2021" / "a.mp4", (1, 2))
    shoot(tmp_path / "photos" / "2022" / "b.mp4", (3, 4))
    session = Session(tmp_path / "ws")
    session.scan(tmp_path / "photos")
    found = session.search("red", tmp_path / "photos" / "2021", embedder=Colours())
    assert [hit.id.partition("/")[0] for hit in found] == ["2021"] * 2
    assert len(found.album(tmp_path / "album").files) == 2
    with pytest.raises(UserError, match="where nothing is ever written"):
        session.search("red", tmp_path / "photos", embedder=Colours()).album(tmp_path / "photos" / "x")
