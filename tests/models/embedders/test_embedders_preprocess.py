"""Pictures made ready for a model: against a plain computation of the same, and against transformers' own code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline.errors import UserError
from sightline.models.embedders.known_models import KNOWN
from sightline.models.embedders.preprocessor import Preprocess, read_open_clip, read_preprocessor

CLIP = KNOWN["clip-vit-b32"].settings["preprocessor_config.json"]
SIGLIP = KNOWN["siglip-b16"].settings["preprocessor_config.json"]


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def plainly(pixels: np.ndarray, edge: int, crop: int, mean: list[float], std: list[float]) -> np.ndarray:
    """Shorter side to `edge` by Pillow's bicubic filter, the middle cut out, scaled and normalised in doubles."""
    height, width = pixels.shape[:2]
    size = (int(edge * width / height), edge) if height <= width else (edge, int(edge * height / width))
    resized = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))
    top, left = (resized.shape[0] - crop) // 2, (resized.shape[1] - crop) // 2
    cut = resized[top : top + crop, left : left + crop].astype(np.float64) / 255
    return np.asarray((cut - np.array(mean)) / np.array(std)).transpose(2, 0, 1)


@given(st.integers(1, 90), st.integers(1, 90), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_shorter_side_then_crop(height: int, width: int, seed: int) -> None:
    config = {**CLIP, "size": {"shortest_edge": 24}, "crop_size": 20}
    pixels = noise(height, width, seed)
    made = read_preprocessor(config, "here")(pixels)
    assert made.shape == (3, 20, 20) and made.dtype == np.float32
    if max(height, width) <= 16 * min(height, width):  # Past that, the middle is resized alone.
        expected = plainly(pixels, 24, 20, CLIP["image_mean"], CLIP["image_std"])
        np.testing.assert_allclose(made, expected, atol=2e-6)


@given(st.integers(1, 60), st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_exact_size_ignores_the_shape(height: int, width: int) -> None:
    pixels = noise(height, width)
    made = read_preprocessor({**SIGLIP, "size": {"height": 12, "width": 16}}, "here")(pixels)
    resized = np.asarray(Image.fromarray(pixels).resize((16, 12), Image.Resampling.BICUBIC)).astype(np.float64)
    np.testing.assert_allclose(made, (resized / 255 - 0.5).transpose(2, 0, 1) / 0.5, atol=2e-6)


def test_a_strip_costs_no_gigabytes_and_shows_its_middle() -> None:
    strip = np.zeros((4, 30_000, 3), dtype=np.uint8)
    strip[:, 14_900:15_100] = 255
    made = read_preprocessor(CLIP, "here")(strip)
    white = (1 - np.array(CLIP["image_mean"])) / np.array(CLIP["image_std"])
    np.testing.assert_allclose(made[:, 112, 112], white, atol=1e-5)


def test_what_open_clip_says() -> None:
    config = {"size": [20, 20], "mean": [0.5] * 3, "std": [0.25] * 3, "interpolation": "bilinear"}
    shortest = read_open_clip({**config, "resize_mode": "shortest"}, "here")
    squash = read_open_clip({**config, "resize_mode": "squash"}, "here")
    assert (shortest.resize, shortest.crop, shortest.resample, shortest.middle) == (20, (20, 20), 2, "round")
    assert (squash.resize, squash.crop) == ((20, 20), None)
    # 23 rows: three too many; torchvision rounds 1.5 to 2, transformers goes down to 1.
    pixels = noise(23, 20)
    np.testing.assert_allclose(shortest(pixels), ((pixels[2:22] / 255 - 0.5) / 0.25).transpose(2, 0, 1), atol=2e-6)


def test_side_is_twice_what_is_needed() -> None:
    assert read_preprocessor(CLIP, "here").side == 448
    assert Preprocess((10, 30), None, (0, 0, 0), (1, 1, 1)).side == 60


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"size": {"longest_edge": 224}}, "is not a size"),
        ({"size": None}, "is not a size"),
        ({"do_pad": True}, "do_pad = True is not known"),
        ({"do_resize": False}, "do_resize = false is not known"),
        ({"do_center_crop": False}, "a shorter side and no crop"),
        ({"image_mean": [0.5]}, "image_mean must be three numbers"),
        ({"image_std": [0.2, 0, 0.2]}, "image_std must be three numbers"),
        ({"crop_size": 300}, "do not fit together"),
        ({"resample": 9}, "do not fit together"),
        ({"max_num_patches": 256}, "max_num_patches"),
    ],
)
def test_what_is_not_known_is_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        read_preprocessor({**CLIP, **change}, "model/preprocessor_config.json")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "config"), [("CLIPImageProcessor", CLIP), ("SiglipImageProcessor", SIGLIP)], ids=["clip", "siglip"]
)
def test_equal_to_transformers(kind: str, config: dict[str, object]) -> None:
    """Bit for bit in the pixels; the float arithmetic within a few units of the last place."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    processor_type = getattr(transformers, f"{kind}Pil", None) or getattr(transformers, kind)
    processor = processor_type(**{**config, "do_center_crop": config.get("do_center_crop", False)})
    ours = read_preprocessor(config, "here")
    for seed, (height, width) in enumerate([(300, 400), (401, 299), (224, 224), (100, 100), (97, 333), (640, 641)]):
        pixels = noise(height, width, seed)
        theirs = np.asarray(processor(Image.fromarray(pixels), return_tensors="np")["pixel_values"][0])
        np.testing.assert_allclose(ours(pixels), theirs, atol=1e-6)
