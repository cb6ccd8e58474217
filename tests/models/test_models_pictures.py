from __future__ import annotations

import asyncio
import base64
import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pictures import random_picture
from sightline.corpus.names import file_uri
from sightline.models.picture_cache import PictureCache
from sightline.models.pictures import PreparedPicture, fit, read_source
from sightline.models.providers import PROVIDERS, PictureLimit, limit_of
from sightline.types import ChatRequest, Failure, ImagePart, Message

LIMIT = PictureLimit(side=200, low_side=50)


def encoded(image: Image.Image, format_: str = "JPEG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format_, **options)
    return buffer.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP", "GIF"])
def test_a_small_picture_goes_out_byte_for_byte(format_: str) -> None:
    data = encoded(random_picture(1, (160, 120)), format_)
    sent, mime = fit(data, LIMIT)
    assert sent is data
    assert mime == f"image/{format_.lower()}"


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 900), st.integers(1, 900))
def test_never_larger_than_the_limit_never_upscaled_and_never_distorted(width: int, height: int) -> None:
    data = encoded(Image.new("RGB", (width, height), "red"))
    image = opened(fit(data, LIMIT)[0])
    longest = max(width, height)
    assert max(image.size) == longest if longest <= 200 else 180 <= max(image.size) <= 200
    scale = max(image.size) / longest
    assert abs(image.width - width * scale) <= 1
    assert abs(image.height - height * scale) <= 1


def test_low_detail_is_smaller() -> None:
    data = encoded(random_picture(1, (400, 300)))
    assert opened(fit(data, LIMIT, "low")[0]).size == (50, 38)
    assert opened(fit(data, LIMIT, "high")[0]).size == (200, 150)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("size", [(120, 80), (600, 400)])
def test_a_rotated_picture_is_turned_upright(orientation: int, size: tuple[int, int]) -> None:
    scene = np.zeros((size[1], size[0], 3), np.uint8)
    scene[: size[1] // 2, : size[0] // 2] = (250, 0, 0)
    turns = {
        1: scene,
        2: scene[:, ::-1],
        3: scene[::-1, ::-1],
        4: scene[::-1],
        5: scene.swapaxes(0, 1),
        6: scene.swapaxes(0, 1)[::-1],
        7: scene[::-1, ::-1].swapaxes(0, 1),
        8: scene.swapaxes(0, 1)[:, ::-1],
    }
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = encoded(Image.fromarray(np.ascontiguousarray(turns[orientation])), exif=exif.tobytes())
    image = opened(fit(stored, LIMIT)[0])
    assert (image.width > image.height) is True
    seen = np.asarray(image).astype(int)
    height, width = seen.shape[:2]
    assert seen[height // 4, width // 4, 0] > 200
    assert seen[3 * height // 4, width // 4, 0] < 60
    assert seen[height // 4, 3 * width // 4, 0] < 60
    if orientation != 1:
        assert not image.getexif()


def test_animated_cmyk_and_deep_pictures_become_what_any_model_reads() -> None:
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "blue")]
    moving = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    sent, mime = fit(moving, LIMIT)
    assert mime == "image/jpeg"
    assert opened(sent).getpixel((5, 5))[0] > 200  # type: ignore[index]
    for odd in (
        encoded(Image.new("CMYK", (60, 40))),
        encoded(Image.fromarray(np.full((40, 60), 30_000, np.uint16)), "PNG"),
        encoded(random_picture(1), "BMP"),
        encoded(random_picture(1), "TIFF"),
    ):
        sent, mime = fit(odd, LIMIT)
        assert (mime, opened(sent).mode) == ("image/jpeg", "RGB")


def test_transparency_becomes_white() -> None:
    clear = encoded(Image.new("RGBA", (300, 300), (0, 0, 0, 0)), "PNG")
    assert opened(fit(clear, LIMIT)[0]).getpixel((9, 9)) == (255, 255, 255)


def test_a_format_that_the_provider_does_not_take() -> None:
    data = encoded(random_picture(1), "WEBP")
    assert fit(data, limit_of("ollama"))[1] == "image/jpeg"
    assert fit(data, limit_of("openai"))[1] == "image/webp"


def test_too_many_bytes_are_squeezed() -> None:
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (200, 200, 3), dtype=np.uint8))
    data = encoded(noise, "PNG")
    assert len(data) > 100_000
    for most in (30_000, 8_000, 3_000):
        assert len(fit(data, PictureLimit(side=200, bytes=most))[0]) <= most


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a picture",
        encoded(random_picture(1))[:-200],
        encoded(random_picture(1, (900, 600)))[:-200],
        encoded(random_picture(1), "PNG")[:60],
        b"\xff\xd8\xff" + b"\0" * 100,
    ],
)
def test_a_hostile_picture_is_a_failure(data: bytes) -> None:
    got = PictureCache(LIMIT).prepare_one(ImagePart("evil.jpg", data))
    assert isinstance(got, Failure)
    assert (got.kind, got.retryable) == ("bad-picture", False)
    assert "evil.jpg" in got.message


_FRAMES = [random_picture(seed, (60, 40)) for seed in (1, 2)]
_WHOLE = [
    encoded(_FRAMES[0]),
    encoded(_FRAMES[0].resize((300, 200)), progressive=True),
    encoded(_FRAMES[0], "PNG"),
    encoded(_FRAMES[0], "GIF", save_all=True, append_images=_FRAMES[1:]),
    encoded(_FRAMES[0], "WEBP", save_all=True, append_images=_FRAMES[1:]),
    encoded(_FRAMES[0], "TIFF", save_all=True, append_images=_FRAMES[1:]),
    encoded(_FRAMES[0], "BMP"),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(deadline=None, max_examples=250)
@given(st.sampled_from(_WHOLE), st.lists(st.tuples(st.integers(0, 20_000), st.binary(max_size=4)), max_size=4))
def test_whatever_bytes_a_picture_has_it_is_sent_or_refused(data: bytes, spoilt: list[tuple[int, bytes]]) -> None:
    for at, bytes_ in spoilt:
        at %= len(data)
        data = data[:at] + bytes_ + data[at + len(bytes_) :]
    got = PictureCache(LIMIT).prepare_one(ImagePart("x", data))
    if isinstance(got, Failure):
        assert got.kind == "bad-picture"
    else:
        assert max(opened(got.data).size) <= 200


def test_sources(tmp_path: Path) -> None:
    data = encoded(random_picture(1))
    path = tmp_path / "ein Bild.jpg"
    path.write_bytes(data)
    inline = "data:image/jpeg;base64," + base64.b64encode(data).decode()
    for part in (
        ImagePart(str(path)),
        ImagePart(file_uri(str(path).encode())),
        ImagePart("anything", data),
        ImagePart(inline),
    ):
        assert read_source(part) == data


@pytest.mark.parametrize(
    "source", ["data:image/png;base64", "data:image/png;base64,***", "/no/such/file", "", "a\0b", "/tmp"]
)
def test_a_source_that_gives_nothing(source: str) -> None:
    got = read_source(ImagePart(source))
    assert isinstance(got, Failure)
    assert got.kind == "bad-picture"


def test_an_address_on_the_web_is_passed_on_unless_all_stays_here() -> None:
    part = ImagePart("HTTPS://example.org/a%20b.jpg?x=1")
    got = PictureCache(LIMIT).prepare_one(part)
    assert isinstance(got, PreparedPicture)
    assert got.text == part.source
    refused = PictureCache(LIMIT, allow_web=False).prepare_one(part)
    assert isinstance(refused, Failure)
    assert refused.kind == "unsupported"


def prepared(box: PictureCache, *parts: ImagePart) -> Any:
    return asyncio.run(box.prepare(ChatRequest("m", (Message("user", parts),))))


def test_a_box_prepares_each_picture_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.models import picture_cache

    calls: list[int] = []

    def counted(*given: Any) -> tuple[bytes, str]:
        calls.append(1)
        return fit(*given)

    monkeypatch.setattr(picture_cache, "fit", counted)
    path = tmp_path / "a.jpg"
    path.write_bytes(encoded(random_picture(1, (400, 300))))
    box = PictureCache(LIMIT)
    part = ImagePart(str(path))
    first = prepared(box, part, ImagePart("same", path.read_bytes()))
    again = prepared(box, part)
    assert first[id(part)].url == again[id(part)].url
    assert len(calls) <= 2  # The first two may run side by side.
    before = len(calls)
    path.write_bytes(encoded(random_picture(2, (401, 300))))
    assert prepared(box, part)[id(part)].url != first[id(part)].url
    assert len(calls) == before + 1
    box.close()


def test_a_box_remembers_no_more_than_it_may() -> None:
    box = PictureCache(LIMIT, memory_bytes=20_000)
    for seed in range(20):
        box.prepare_one(ImagePart("x", encoded(random_picture(seed))))
    assert sum(len(ready.url) for ready in box._ready.values()) <= 20_000
    assert len(box._ready) >= 2


def test_smaller_pictures_are_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.models import picture_cache

    large, small = encoded(random_picture(1, (400, 300))), encoded(random_picture(1, (40, 30)))
    first = PictureCache(LIMIT, folder=tmp_path / "cache").prepare_one(ImagePart("x", large))
    PictureCache(LIMIT, folder=tmp_path / "cache").prepare_one(ImagePart("x", small))
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert [path.name for path in files] == [f"{hashlib.sha256(large).hexdigest()}-200-{LIMIT.bytes}.jpg"]

    def forbidden(*_: object) -> None:
        raise AssertionError("prepared again")

    monkeypatch.setattr(picture_cache, "fit", forbidden)
    assert PictureCache(LIMIT, folder=tmp_path / "cache").prepare_one(ImagePart("x", large)) == first


def test_one_bad_picture_fails_the_request() -> None:
    box = PictureCache(LIMIT)
    got = prepared(box, ImagePart("good", encoded(random_picture(1))), ImagePart("bad.jpg", b"no"))
    box.close()
    assert isinstance(got, Failure)
    assert "bad.jpg" in got.message


def test_limits_are_sane() -> None:
    for limit in (provider.pictures for provider in PROVIDERS.values()):
        assert "JPEG" in limit.formats
        assert limit.side >= 512
