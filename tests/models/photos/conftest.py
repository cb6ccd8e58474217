"""The embedder with its real weights, and real photographs from scikit-image's package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from sightline.models.photos.embedder import Photos
from sightline.models.photos.weights import CLASSIFIER, ENCODER

FLICKR8K = Path(__file__).parents[4] / "shared" / "data" / "flickr8k"
PHOTOGRAPHS = {
    "cat": "chelsea.png",
    "coffee": "coffee.png",
    "astronaut": "astronaut.png",
    "rocket": "rocket.jpg",
    "motorcycle": "motorcycle_left.png",
    "photographer": "camera.png",
    "wall": "brick.png",
    "page": "page.png",
}


@pytest.fixture(scope="session")
def photos() -> Photos:
    """The default embedder; its networks are made once, in the user's cache."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    for file in (CLASSIFIER, ENCODER):
        try:
            distribution(file.package.name)
        except PackageNotFoundError:
            pytest.skip(f"{file.package.name} is not installed")
    return Photos()


@pytest.fixture(scope="session")
def photograph_files() -> dict[str, Path]:
    """Real photographs by what they show."""
    skimage = pytest.importorskip("skimage")
    folder = Path(skimage.__file__).parent / "data"
    return {name: folder / file for name, file in PHOTOGRAPHS.items()}


@pytest.fixture(scope="session")
def photographs(photograph_files: dict[str, Path]) -> dict[str, NDArray[np.uint8]]:
    """The same as arrays."""
    return {name: np.asarray(Image.open(path).convert("RGB")) for name, path in photograph_files.items()}


@pytest.fixture(scope="session")
def flickr8k() -> Path:
    """Reference features and sample photographs, where they are at hand."""
    if not FLICKR8K.is_dir():
        pytest.skip(f"{FLICKR8K} is not there")
    return FLICKR8K
