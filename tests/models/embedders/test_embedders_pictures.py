"""A folder of real files through an embedder: hostile ones, turned ones, copies, changes and kills."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pictures import random_picture
from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.names import picture_id
from sightline.corpus.pixels import RefusedError
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.models.embedders.base import EmbeddingAttempt, as_attempt
from sightline.models.embedders.pipeline import embed, embed_pictures, embed_texts
from sightline.models.embedders.pixels import load_pixels
from sightline.models.embedders.vector_file import EmbeddedVectors, read_vectors
from sightline.models.protocols import Pixels, Vectors
from sightline.types import Failure
from tiny_clip import COLOURS, write_colours, write_tiny_clip


class Corners:
    """Embeds a picture by the mean colour of its corners, and counts what it is given."""

    revision, dim, side, batch = "1", 12, 16, 4

    def __init__(self, name: str = "corners") -> None:
        self.name = name
        self.seen: list[Pixels] = []

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        self.seen += batch
        rows = []
        for pixels in batch:
            high, wide = max(1, pixels.shape[0] // 2), max(1, pixels.shape[1] // 2)
            parts = (pixels[:high, :wide], pixels[:high, -wide:], pixels[-high:, :wide], pixels[-high:, -wide:])
            rows.append(np.concatenate([part.reshape(-1, 3).mean(axis=0) for part in parts]))
        return as_attempt(np.array(rows) + 1).vectors

    def texts(self, batch: Sequence[str]) -> Vectors:
        return as_attempt(np.array([[len(text), *range(1, 12)] for text in batch])).vectors


def embedded(folder: Path, workspace: Path, embedder: Corners | None = None, **options: Any) -> EmbeddedVectors:
    return embed_pictures(folder, embedder=embedder or Corners(), workspace=workspace, **options)


def draw(path: Path, seed: int, **save: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    random_picture(seed).save(path, **save)
    return path


def test_words_find_pictures(tmp_path: Path) -> None:
    name = f"onnx:{write_tiny_clip(tmp_path / 'clip')}"
    pictures = embed(write_colours(tmp_path / "photos"), embedder=name, workspace=tmp_path / "ws")
    texts = embed([f"a picture of {colour}" for colour in COLOURS], embedder=name, workspace=tmp_path / "ws")
    best = pictures.ids[(pictures.vectors @ texts.vectors.T).argmax(axis=0)]
    assert best.tolist() == [f"{colour}.png" for colour in COLOURS]
    assert pictures.ids.tolist() == sorted(pictures.ids.tolist())
    np.testing.assert_allclose(np.linalg.norm(pictures.vectors, axis=1), 1, atol=1e-6)


@pytest.mark.world
def test_every_bad_file_is_left_out_for_its_reason(tmp_path: Path) -> None:
    from sightline_world.samples import write_bad_files

    written = write_bad_files(tmp_path / "photos")
    promised = {picture_id(os.fsencode(name)): reason for name, reason in written.items()}
    draw(tmp_path / "photos" / "good.jpg", 1)
    done = embedded(tmp_path / "photos", tmp_path / "ws")
    skipped = {item.id: item.reason for item in done.left_out}
    refused = {"truncated", "empty", "not a picture", "bomb", "unreadable"}
    assert skipped == {name: reason for name, reason in promised.items() if reason in refused}
    assert set(done.ids) == ({*promised, "good.jpg"} - set(skipped))
    again = embedded(tmp_path / "photos", tmp_path / "ws")
    assert again.reasons == done.reasons and again.from_cache == again.count


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_pictures_are_seen_upright(tmp_path: Path, orientation: int) -> None:
    upright = random_picture(5, (64, 48))
    back = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Pillow's transpose that undoes each orientation.
    stored = upright.transpose(Image.Transpose(back[orientation])) if orientation > 1 else upright
    exif = Image.Exif()
    exif[274] = orientation
    buffer = io.BytesIO()
    stored.save(buffer, "PNG", exif=exif)
    np.testing.assert_array_equal(load_pixels(buffer.getvalue(), 1000, 10**6), np.asarray(upright))


@pytest.mark.parametrize(
    ("kind", "size", "shape"),
    [
        ("JPEG", (1600, 1200), (150, 200)),  # Scaled by eight while it is decoded.
        ("PNG", (1600, 1200), (100, 134)),  # Averaged over blocks of twelve afterwards.
        ("JPEG", (150, 120), (120, 150)),
        ("PNG", (90, 70), (70, 90)),
        ("PNG", (5000, 3), (3, 5000)),
    ],
)
def test_no_larger_than_needed(kind: str, size: tuple[int, int], shape: tuple[int, int]) -> None:
    buffer = io.BytesIO()
    random_picture(1, size).save(buffer, kind)
    pixels = load_pixels(buffer.getvalue(), 100, 10**8)
    assert pixels.shape == (*shape, 3) and min(pixels.shape[:2]) >= min(100, *size)


def test_scaled_decoding_keeps_the_picture() -> None:
    picture = random_picture(3, (1600, 1200))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=95)
    small = Image.fromarray(load_pixels(buffer.getvalue(), 100, 10**8)).resize((32, 24), Image.Resampling.BOX)
    whole = picture.resize((32, 24), Image.Resampling.BOX)
    assert np.abs(np.asarray(small, dtype=int) - np.asarray(whole, dtype=int)).mean() < 2


def test_a_bomb_is_refused() -> None:
    buffer = io.BytesIO()
    Image.new("L", (3000, 3000)).save(buffer, "PNG")
    with pytest.raises(RefusedError, match="bomb"):
        load_pixels(buffer.getvalue(), 100, 10**6)


def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    for n in range(6):
        draw(folder / f"{n}.png", n)
    first, second, third, fourth = (Corners() for _ in range(4))
    whole = embedded(folder, tmp_path / "ws", first)
    assert len(first.seen) == 6 and whole.from_cache == 0
    assert embedded(folder, tmp_path / "ws", second).from_cache == 6 and second.seen == []
    draw(folder / "2.png", 50)
    (folder / "3.png").unlink()
    (folder / "4.png").rename(folder / "moved.png")
    changed = embedded(folder, tmp_path / "ws", third)
    assert len(third.seen) == 1 and changed.ids.tolist() == ["0.png", "1.png", "2.png", "5.png", "moved.png"]
    np.testing.assert_array_equal(changed.vectors[4], whole.vectors[4])
    assert not np.array_equal(changed.vectors[2], whole.vectors[2])
    other = Corners("other")
    assert embedded(folder, tmp_path / "ws", other).from_cache == 0 and len(other.seen) == 5
    assert embedded(folder, tmp_path / "ws2", fourth).from_cache == 0


def test_copies_are_embedded_once(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    draw(folder / "a.png", 1)
    for name in ("b.png", "c.png", "d/a.png", "e.png", "f.png", "g.png", "h.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(folder / "a.png", folder / name)
    embedder = Corners()
    done = embedded(folder, tmp_path / "ws", embedder)
    assert done.count == 8 and len(embedder.seen) == 1 and (done.vectors == done.vectors[0]).all()


def test_ids_are_paths_in_any_unicode(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    names = ["a b.png", "100%.png", "l1\nl2.png", "ünï/日本.png", "it's.png"]
    for n, name in enumerate(names):
        draw(folder / name, n)
    nfd = "cafe\u0301.png"
    draw(folder / nfd, 9)
    draw(folder / "caf\u00e9.png", 10)
    done = embedded(folder, tmp_path / "ws", out=tmp_path / "v.npz")
    assert set(done.ids) == {*names, "caf\u00e9.png", "caf\u00e9.png~2"}


def test_the_folder_is_never_written_to(tmp_path: Path) -> None:
    draw(tmp_path / "photos" / "a.png", 1)
    before = {path: path.stat() for path in tmp_path.rglob("*")}
    embedded(tmp_path / "photos", tmp_path / "ws")
    after = {path: path.stat() for path in (tmp_path / "photos").rglob("*")}
    assert set(after) == {path for path in before if path != tmp_path / "photos"}
    with pytest.raises(UserError, match="would be inside the pictures' folder"):
        embedded(tmp_path / "photos", tmp_path / "photos" / "ws")


def test_nothing_to_embed_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "notes.txt").write_text("no picture")
    with pytest.raises(UserError, match=r"no picture that could be embedded \(1 not a picture\)"):
        embedded(tmp_path / "photos", tmp_path / "ws", out=tmp_path / "v.npz")
    with pytest.raises(UserError, match="there is no folder"):
        embedded(tmp_path / "nowhere", tmp_path / "ws")
    assert not (tmp_path / "v.npz").exists()


def test_limit_takes_the_first_files(tmp_path: Path) -> None:
    for n in range(9):
        draw(tmp_path / "photos" / f"{n}.png", n)
    assert embedded(tmp_path / "photos", tmp_path / "ws", limit=4).count == 4


class Failing(Corners):
    """Fails on red pictures; stops for good at the n-th batch."""

    def __init__(self, stop_at: int | None = None) -> None:
        super().__init__("failing")
        self.left = stop_at

    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        made = as_attempt(self.pictures(batch))
        if self.left is not None:
            self.left -= 1
        red = {at: Failure("content-filter", "red is refused") for at, p in enumerate(batch) if p[0, 0, 0] == 230}
        stopped = StoppedError("the budget is used up") if self.left == 0 else None
        return made._replace(failures=red, stopped=stopped)


def test_a_failed_picture_is_left_out_and_tried_again(tmp_path: Path) -> None:
    write_colours(tmp_path / "photos")
    for _ in range(2):
        done = embedded(tmp_path / "photos", tmp_path / "ws", Failing())
        assert [(item.id, item.reason) for item in done.left_out] == [("red.png", "content-filter")]
        assert done.count == len(COLOURS) - 1


def test_what_was_made_before_a_stop_is_kept_and_written(tmp_path: Path) -> None:
    for n in range(12):
        draw(tmp_path / "photos" / f"{n}.png", n)
    with pytest.raises(StoppedError, match=r"the budget is used up 8 vectors are in .*v\.npz"):
        embedded(tmp_path / "photos", tmp_path / "ws", Failing(stop_at=2), out=tmp_path / "v.npz")
    assert len(read_vectors(tmp_path / "v.npz").ids) == 8
    with pytest.raises(StoppedError, match="in the workspace"):
        embedded(tmp_path / "photos", tmp_path / "ws", Failing(stop_at=1))
    rest = Failing()
    done = embedded(tmp_path / "photos", tmp_path / "ws", rest)
    assert len(rest.seen) == 0 and done.count == 12 and done.from_cache == 12


def test_a_plug_in_that_gives_the_wrong_number_of_rows_is_caught(tmp_path: Path) -> None:
    class Wrong(Corners):
        def pictures(self, batch: Sequence[Pixels]) -> Vectors:
            return super().pictures(batch)[:-1]

    draw(tmp_path / "photos" / "a.png", 1)
    with pytest.raises(SightlineError, match="gave an array of"):
        embedded(tmp_path / "photos", tmp_path / "ws", Wrong())


KILLED = """
import sys
from sightline.models.embedders.pipeline import embed_pictures
embed_pictures(sys.argv[1], embedder=sys.argv[2], workspace=sys.argv[3], out=sys.argv[4], options={"batch": 4})
"""


def test_killed_at_any_moment_the_next_run_goes_on(tmp_path: Path) -> None:
    for n in range(60):
        draw(tmp_path / "photos" / f"{n:02}.png", n)
    name, workspace, out = f"onnx:{write_tiny_clip(tmp_path / 'clip')}", tmp_path / "ws", tmp_path / "v.npz"
    for seconds in (0.6, 0.9, 1.2):
        run = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "photos", name, workspace, out])
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
    done = embed_pictures(tmp_path / "photos", embedder=name, workspace=workspace, out=out)
    fresh = embed_pictures(tmp_path / "photos", embedder=name, workspace=tmp_path / "ws2")
    assert done.ids.tolist() == fresh.ids.tolist() and done.count == 60
    np.testing.assert_allclose(done.vectors, fresh.vectors, atol=1e-6)


# --- texts -----------------------------------------------------------------------------------------------------


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_bytes("\ufeffa dog\r\n\n  \nzwölf Boxkämpfer\n".encode() + b"caf\xe9\n" + b"a dog\nlast")
    done = embed_texts(file, embedder=Corners(), workspace=tmp_path / "ws", out=tmp_path / "t.npz")
    assert done.ids.tolist() == ["1", "4", "6", "7"]
    assert [(item.id, item.reason) for item in done.left_out] == [("2", "empty"), ("3", "empty"), ("5", "not UTF-8")]
    np.testing.assert_array_equal(done.vectors[0], done.vectors[2])
    expected = Corners().texts(["a dog", "zwölf Boxkämpfer", "a dog", "last"])
    np.testing.assert_allclose(done.vectors, expected, atol=1e-6)
    assert done.truncated is None and embed(file, embedder=Corners(), workspace=tmp_path / "ws").from_cache == 4


def test_cut_texts_are_counted_also_when_they_come_from_the_cache(tmp_path: Path) -> None:
    name, texts = f"onnx:{write_tiny_clip(tmp_path / 'clip')}", ["red", "blue " * 20, "green " * 7]
    for _ in range(2):
        assert embed_texts(texts, embedder=name, workspace=tmp_path / "ws").truncated == 2


def test_texts_without_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no text that could be embedded \(2 empty\)"):
        embed_texts(["", "  "], embedder=Corners(), workspace=tmp_path / "ws")
    with pytest.raises(UserError, match="can't be read"):
        embed_texts(tmp_path / "nowhere.txt", embedder=Corners(), workspace=tmp_path / "ws")


def test_hidden_files_follow_the_configuration(tmp_path: Path) -> None:
    draw(tmp_path / "photos" / ".hidden.png", 1)
    draw(tmp_path / "photos" / "seen.png", 2)
    assert embedded(tmp_path / "photos", tmp_path / "ws").ids.tolist() == ["seen.png"]
    config = Config.model_validate({"scan": {"hidden": True}})
    assert embedded(tmp_path / "photos", tmp_path / "ws", session=Session(config=config)).count == 2
