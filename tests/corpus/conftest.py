"""Small real pictures for the tests of the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pictures import Draw, random_picture


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """`draw("a/b.jpg", seed=3, time="2024:05:01 10:00:00", offset="+02:00", place=(48.5, 2.3))` → a file in photos/."""

    def draw(
        name: str,
        seed: int = 0,
        *,
        time: str | None = None,
        offset: str | None = None,
        place: tuple[float, float] | None = None,
        device: str | None = None,
        orientation: int | None = None,
        image: Image.Image | None = None,
        **save: Any,
    ) -> Path:
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        exif = Image.Exif()
        if time:
            exif.get_ifd(34665)[36867] = time
        if offset:
            exif.get_ifd(34665)[36881] = offset
        if place:
            lat, lon = place
            exif.get_ifd(34853).update(
                {
                    1: "N" if lat >= 0 else "S",
                    2: (abs(lat), 0.0, 0.0),
                    3: "E" if lon >= 0 else "W",
                    4: (abs(lon), 0.0, 0.0),
                }
            )
        if device:
            exif[272] = device
        if orientation:
            exif[274] = orientation
        (image or random_picture(seed)).save(path, exif=exif, **save)
        return path

    return draw
