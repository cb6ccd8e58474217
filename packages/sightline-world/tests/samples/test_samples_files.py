from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from sightline.errors import UserError
from sightline_world.samples import Samples, SampleScene, contact_sheet, write_samples

EXIF_IFD, GPS_IFD = 0x8769, 0x8825


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def with_carrier(samples: Samples, carrier: str) -> list[SampleScene]:
    return [scene for scene in samples.scenes if carrier in scene.carriers]


def test_the_same_seed_gives_the_same_bytes_and_the_same_truth(tmp_path: Path) -> None:
    first = write_samples(tmp_path / "a", seed=5, pictures=20)
    again = write_samples(tmp_path / "b", seed=5, pictures=20)
    other = write_samples(tmp_path / "c", seed=6, pictures=20)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert first.scenes == again.scenes
    assert {scene.sha256 for scene in first.scenes}.isdisjoint({scene.sha256 for scene in other.scenes})


@pytest.mark.parametrize("pictures", [1, 14, 15, 41])
def test_exactly_as_many_pictures_as_asked_for(tmp_path: Path, pictures: int) -> None:
    samples = write_samples(tmp_path, pictures=pictures)
    on_disk = [name for name in contents(tmp_path) if not name.endswith((".json", ".xmp"))]
    assert len(samples.scenes) == pictures
    assert sorted(scene.id for scene in samples.scenes) == sorted(on_disk)


def test_no_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="0 sample pictures"):
        write_samples(tmp_path, pictures=0)


def test_ids_are_unique_posix_paths_in_nfc_under_the_owner(samples: Samples) -> None:
    ids = [scene.id for scene in samples.scenes]
    assert ids == sorted(set(ids))
    for scene in samples.scenes:
        assert scene.id.startswith(f"{scene.owner}/")
        assert unicodedata.is_normalized("NFC", scene.id)
        assert (samples.folder / scene.id).is_file()


def test_names_of_files_do_not_tell_what_they_show(samples: Samples) -> None:
    for scene in samples.scenes:
        words = {scene.place, scene.light, *(thing.kind for thing in scene.objects)}
        assert not any(word in scene.id.lower() for word in words)


def test_the_set_is_varied(samples: Samples) -> None:
    scenes = samples.scenes
    assert len({scene.place for scene in scenes}) >= 8
    assert {scene.light for scene in scenes} == {"day", "sunset", "night", "fog"}
    assert {scene.format for scene in scenes} == {"JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"}
    assert {scene.owner for scene in scenes} == {"ana", "ben"}
    assert len({thing.kind for scene in scenes for thing in scene.objects}) >= 15
    assert len({scene.device for scene in scenes} - {None}) == 3
    assert {scene.orientation for scene in scenes} >= {1, 3, 6, 8}
    assert {(lat > 0, lon > 0) for s in scenes if (lat := s.lat) is not None and (lon := s.lon) is not None} == {
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    }
    assert any(scene.altitude is not None and scene.altitude < 0 for scene in scenes)
    assert {scene.taken_at.tzinfo is None for scene in scenes if scene.taken_at} == {True, False}
    assert all(len({s.event for s in scenes if s.owner == owner and s.event}) >= 3 for owner in ("ana", "ben"))


def test_exif_read_back_says_what_the_scene_says(samples: Samples) -> None:
    checked = 0
    for scene in with_carrier(samples, "exif"):
        with Image.open(samples.folder / scene.id) as image:
            tags = image.getexif()
            inner, gps = tags.get_ifd(EXIF_IFD), tags.get_ifd(GPS_IFD)
        assert tags[0x0110] == scene.device
        assert tags[0x0112] == scene.orientation
        assert inner[0xA434] == scene.lens
        assert exif_time(inner) == scene.taken_at
        position = exif_position(gps)
        expected = (scene.lat, scene.lon, scene.altitude)
        assert position == (None, None, None) if scene.lat is None else position == pytest.approx(expected, abs=1e-6)
        checked += 1
    assert checked > 40


def exif_time(inner: dict[int, str]) -> datetime:
    stamp = datetime.strptime(inner[0x9003], "%Y:%m:%d %H:%M:%S")
    offset = inner.get(0x9011)
    return stamp if offset is None else datetime.fromisoformat(f"{stamp.isoformat()}{offset}")


def exif_position(gps: dict[int, object]) -> tuple[float | None, float | None, float | None]:
    if not gps:
        return None, None, None

    def degrees(values: object) -> float:
        whole, minutes, seconds = (float(value) for value in values)  # type: ignore[attr-defined]
        return whole + minutes / 60 + seconds / 3600

    lat = degrees(gps[2]) * (1 if gps[1] == "N" else -1)
    lon = degrees(gps[4]) * (1 if gps[3] == "E" else -1)
    altitude = float(gps[6]) * (-1 if gps[5] == b"\x01" else 1)  # type: ignore[arg-type]
    return lat, lon, altitude


def test_pictures_are_as_large_as_the_scene_says_once_upright(samples: Samples) -> None:
    for scene in samples.scenes:
        with Image.open(samples.folder / scene.id) as image:
            assert image.format == scene.format
            assert ImageOps.exif_transpose(image).size == (scene.width, scene.height)
        assert hashlib.sha256((samples.folder / scene.id).read_bytes()).hexdigest() == scene.sha256


def test_a_turned_picture_is_upright_only_when_the_tag_is_applied(samples: Samples) -> None:
    """By day the sky is at the top: the upper rows are bluer than the lower ones."""
    turned = [
        s for s in samples.scenes if s.orientation != 1 and s.light == "day" and s.place in ("lake", "beach", "snow")
    ]
    assert turned
    for scene in turned:
        with Image.open(samples.folder / scene.id) as image:
            stored, upright = (
                np.asarray(i.convert("RGB"), dtype=float) for i in (image, ImageOps.exif_transpose(image))
            )
        assert blueness(upright[:40]) > blueness(upright[-40:]) + 20
        if scene.orientation == 3:
            assert blueness(stored[:40]) < blueness(stored[-40:])
        else:
            assert stored.shape[:2] == upright.shape[1::-1]


def blueness(rows: np.ndarray) -> float:
    return float(rows[..., 2].mean() - rows[..., 0].mean())


def test_xmp_holds_title_keywords_and_rating(samples: Samples) -> None:
    inside = with_carrier(samples, "xmp")
    assert {scene.format for scene in inside} == {"JPEG", "PNG", "WEBP", "TIFF"}
    for scene in inside:
        with Image.open(samples.folder / scene.id) as image:
            packet = image.info["XML:com.adobe.xmp"] if scene.format == "PNG" else image.info["xmp"]
        assert_xmp(packet if isinstance(packet, str) else packet.decode(), scene)


def assert_xmp(text: str, scene: SampleScene) -> None:
    assert f">{scene.title}</rdf:li>" in text
    assert tuple(re.findall(r"<rdf:li>([^<]+)</rdf:li>", text)) == scene.keywords
    assert f'xmp:Rating="{scene.rating}"' in text


def test_sidecars_say_what_the_scene_says(samples: Samples) -> None:
    alone = [scene for scene in with_carrier(samples, "xmp sidecar") if "exif" not in scene.carriers]
    beside = [scene for scene in with_carrier(samples, "xmp sidecar") if "exif" in scene.carriers]
    assert alone
    assert beside
    for scene in alone:
        text = (samples.folder / scene.id).with_suffix(".xmp").read_text("utf-8")
        assert_xmp(text, scene)
        assert scene.taken_at is not None
        assert f'exif:DateTimeOriginal="{scene.taken_at.isoformat()}"' in text
        assert f'tiff:Model="{scene.device}"' in text
    for scene in beside:
        assert_xmp((samples.folder / f"{scene.id}.xmp").read_text("utf-8"), scene)


def test_takeout_json_says_what_the_scene_says(samples: Samples) -> None:
    found = with_carrier(samples, "takeout")
    assert found
    for scene in found:
        record = json.loads((samples.folder / f"{scene.id}.json").read_bytes())
        assert scene.taken_at is not None
        assert int(record["photoTakenTime"]["timestamp"]) == scene.taken_at.timestamp()
        assert scene.taken_at.utcoffset() == timedelta(0)
        assert (record["geoData"]["latitude"], record["geoData"]["longitude"]) == (scene.lat, scene.lon)
        assert scene.device is None


def test_copies_are_copies(samples: Samples) -> None:
    copies = [scene for scene in samples.scenes if scene.duplicate_of]
    assert Counter(scene.exact for scene in copies) == {True: 4, False: 4}
    for copy in copies:
        assert copy.duplicate_of is not None
        original = samples[copy.duplicate_of]
        assert original.duplicate_of is None
        assert (copy.sha256 == original.sha256) is copy.exact
        assert copy.objects == original.objects
        assert alike(samples.folder / copy.id, samples.folder / original.id) < 4
        assert any(
            copy.duplicate_of != s.id and alike(samples.folder / copy.id, samples.folder / s.id) > 12
            for s in samples.scenes
        )


def alike(a: Path, b: Path) -> float:
    """Mean difference of two pictures, upright and small."""
    small = []
    for path in (a, b):
        with Image.open(path) as image:
            small.append(np.asarray(ImageOps.exif_transpose(image).convert("L").resize((32, 32)), dtype=float))
    return float(np.abs(small[0] - small[1]).mean())


def test_a_burst_is_taken_within_seconds_and_its_frames_differ(samples: Samples) -> None:
    bursts = {scene.burst for scene in samples.scenes if scene.burst}
    assert len(bursts) == 3
    for burst in bursts:
        frames = [samples[picture] for picture in burst]
        times = [frame.taken_at for frame in frames if frame.taken_at is not None]
        assert len(times) == len(frames)
        assert max(times) - min(times) <= timedelta(seconds=5)
        assert len({frame.sha256 for frame in frames}) == len(frames)
        assert alike(samples.folder / burst[0], samples.folder / burst[-1]) < 15


def test_boxes_lie_inside_the_picture(samples: Samples) -> None:
    for scene in samples.scenes:
        for thing in (*scene.objects, *scene.scenery):
            assert 0 <= thing.box.left < thing.box.right <= 1
            assert 0 <= thing.box.top < thing.box.bottom <= 1
            assert thing.count >= 1


def test_the_caption_names_what_is_to_be_seen(samples: Samples) -> None:
    for scene in samples.scenes:
        for thing in scene.objects:
            if thing.kind != "snowman":
                assert thing.colour in scene.caption
            assert thing.kind in scene.caption or thing.count > 1


def test_a_contact_sheet_shows_each_original_once(samples: Samples) -> None:
    originals = [s for s in samples.scenes if s.duplicate_of is None and (not s.burst or s.id == s.burst[0])]
    sheet = contact_sheet(samples, columns=len(originals), cell=(40, 30))
    assert sheet.size == (len(originals) * 46 + 6, 42)
    assert contact_sheet(samples, columns=60, cell=(40, 30), copies=True).width == 60 * 46 + 6
    last = np.asarray(sheet.crop((sheet.width - 46, 6, sheet.width - 6, 36)), dtype=float)
    assert last.std() > 8
