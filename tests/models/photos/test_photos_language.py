"""A note for other languages than English: said when it helps, and not about English."""

from __future__ import annotations

import pytest

from sightline.models.photos.embedder import Photos, looks_english


@pytest.mark.parametrize(
    "text",
    [
        "a dog running on the beach",
        "Las Vegas at night",
        "the Tour de France",
        "a van on the road",
        "café in the old town",
        "IMG 2041",
        "2023",
        "",
        "Rio de Janeiro and the sugar loaf",
    ],
)
def test_english(text: str) -> None:
    assert looks_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "ein Hund am Strand",
        "un perro en la playa",
        "un chien sur la plage avec un ballon",
        "собака на пляже",
        "海辺の犬",
    ],
)
def test_other_languages(text: str) -> None:
    assert not looks_english(text)


def test_the_note_comes_once(photos: Photos, caplog: pytest.LogCaptureFixture) -> None:
    embedder = Photos()
    embedder.texts(["a dog"])
    assert caplog.text == ""
    embedder.texts(["ein Hund am Strand", "und eine Katze"])
    embedder.texts(["собака"])
    assert caplog.text.count("looks like another language") == 1 and "ein Hund am Strand" in caplog.text
