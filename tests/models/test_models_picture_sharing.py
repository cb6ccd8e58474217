"""A picture for several models is made once, whoever asks first, gives up or is done."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sightline.models import picture_cache
from sightline.models.picture_cache import PictureCache
from sightline.models.pictures import fit
from sightline.models.providers import PictureLimit
from sightline.types import ChatRequest, Failure, ImagePart, Message

LIMIT = PictureLimit(side=64)


class Slowly:
    """Counts how often a picture is made, and makes it only when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        self.go = threading.Event()
        self._fit = fit
        monkeypatch.setattr(picture_cache, "fit", self)

    def __call__(self, *given: Any) -> tuple[bytes, str]:
        self.made += 1
        assert self.go.wait(30)
        return self._fit(*given)


@pytest.fixture
def request_(tmp_path: Path) -> ChatRequest:
    Image.new("RGB", (200, 100), "red").save(tmp_path / "a.png")
    return ChatRequest("m", (Message("user", (ImagePart(str(tmp_path / "a.png")), "What?")),))


def boxes(count: int, **options: Any) -> list[PictureCache]:
    return [PictureCache.shared(LIMIT, folder=None, memory_bytes=1 << 20, **options) for _ in range(count)]


def test_two_models_at_once_and_a_third_later(monkeypatch: pytest.MonkeyPatch, request_: ChatRequest) -> None:
    slowly, (one, two, three) = Slowly(monkeypatch), boxes(3)

    async def main() -> None:
        both = [asyncio.create_task(box.prepare(request_)) for box in (one, two)]
        await asyncio.sleep(0.05)
        slowly.go.set()
        first, second = await asyncio.gather(*both)
        assert isinstance(first, dict) and first == second == await three.prepare(request_)

    asyncio.run(main())
    assert slowly.made == 1
    for box in (one, two, three):
        box.close()


def test_who_gives_up_takes_nothing_from_the_other(monkeypatch: pytest.MonkeyPatch, request_: ChatRequest) -> None:
    slowly, (one, two) = Slowly(monkeypatch), boxes(2)

    async def main() -> None:
        first, second = (asyncio.create_task(box.prepare(request_)) for box in (one, two))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0)
        slowly.go.set()
        assert not isinstance(await second, Failure)
        one.close()  # The other goes on.
        assert not isinstance(await two.prepare(request_), Failure)

    asyncio.run(main())
    assert slowly.made == 1
    two.close()


def test_a_picture_that_fails_fails_for_both_and_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "late.png"
    request = ChatRequest("m", (Message("user", (ImagePart(str(path)),)),))
    (box,) = boxes(1)

    async def main() -> None:
        both = await asyncio.gather(box.prepare(request), box.prepare(request))
        assert all(isinstance(found, Failure) for found in both)
        Image.new("RGB", (20, 10)).save(path)
        assert not isinstance(await box.prepare(request), Failure)

    asyncio.run(main())
    box.close()


def test_other_rules_are_another_box_and_nothing_is_held_for_ever() -> None:
    one, two = boxes(2)
    (offline,) = boxes(1, allow_web=False)
    assert one is two and one is not offline
    held = len(picture_cache._SHARED)
    del one, two, offline
    gc.collect()
    assert len(picture_cache._SHARED) <= held - 2
