"""The GPU's way from files to vectors (torch, onnxruntime), run on the processor with Pillow in nvJPEG's place."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from PIL import Image

from sightline.calls.session import Session
from sightline.models.embedders import cluster
from sightline.models.embedders.base import EmbeddingAttempt
from sightline.models.embedders.gpu_embedder import GpuEmbedder
from sightline.models.embedders.gpu_preprocessor import GpuPreprocessor
from sightline.models.embedders.onnx_clip import OnnxClip
from sightline.models.embedders.pipeline import embed_pictures
from sightline.models.embedders.pixels import DecodeJob, DecodeRefused, EmbeddedPicture, JpegFile
from sightline.models.embedders.preprocessor import Preprocess, Size
from sightline.models.embedders.registry import find_embedder
from sightline.models.embedders.transformers_clip import TransformersClip
from tiny_clip import MEAN, STD, write_tiny_clip
from tiny_transformers import write_model

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
ort_error = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")


def decode(files: Sequence[bytearray]) -> list[Any]:
    """What nvJPEG does: pixels as stored; a file that it can't read makes the whole batch fail."""
    try:
        pictures = [np.asarray(Image.open(io.BytesIO(file)).convert("RGB")) for file in files]
    except OSError as error:
        raise RuntimeError(str(error)) from None
    return [torch.from_numpy(picture.copy()).permute(2, 0, 1) for picture in pictures]


@pytest.mark.parametrize("resample", [1, 2, 3, 4])
@pytest.mark.parametrize(("resize", "crop"), [(16, (16, 16)), ((24, 20), None), (20, (13, 17))])
def test_pictures_are_resized_as_pillow_does(resample: int, resize: int | Size, crop: Size | None) -> None:
    preprocess = Preprocess(resize, crop, (0.5, 0.4, 0.3), (0.2, 0.3, 0.4), resample=resample)
    rng = np.random.default_rng(0)
    shapes = [(40, 60, 3), (60, 40, 3), (40, 60, 3), (17, 23, 3), (200, 170, 3), (9, 12, 3)]
    batch = [rng.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]
    made = GpuPreprocessor(preprocess, "cpu", None).from_pixels(batch).numpy()
    expected = np.stack([preprocess(pixels) for pixels in batch])
    levels = (made - expected) * np.array([0.2, 0.3, 0.4]).reshape(3, 1, 1) * 255
    assert np.abs(levels).max() < 1.01 and np.mean(np.abs(levels) > 0.01) < 0.02  # A rounding here and there.


def write_pictures(folder: Path) -> None:
    """Photographs turned in every way, of two sizes, and what the GPU does not take."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    for at in range(24):
        shape = (48, 64, 3) if at % 2 else (40, 30, 3)
        small = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
        exif = Image.Exif()
        exif[0x0112] = 1 + at % 8
        small.resize(shape[1::-1], Image.Resampling.BICUBIC).save(folder / f"{at:02}.jpg", quality=95, exif=exif)
    (folder / "copy.jpg").write_bytes((folder / "03.jpg").read_bytes())
    small.save(folder / "drawing.png")
    small.convert("CMYK").resize((40, 40)).save(folder / "print.jpg")
    small.resize((400, 10)).save(folder / "strip.jpg")
    whole = (folder / "05.jpg").read_bytes()
    (folder / "truncated.jpg").write_bytes(whole[: len(whole) // 2])
    # Pillow and nvJPEG refuse it: it has no quantisation table.
    (folder / "broken.jpg").write_bytes(whole.replace(b"\xff\xdb", b"\xff\xfe"))


@pytest.fixture(params=["transformers", "onnx"])
def model(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if request.param == "onnx":
        return f"onnx:{write_tiny_clip(tmp_path / 'clip')}"
    return f"transformers:{write_model(tmp_path / 'clip', 'clip')}"


def opened(model: str, *, gpu: bool) -> TransformersClip | OnnxClip:
    embedder = find_embedder(model)
    assert isinstance(embedder, TransformersClip | OnnxClip)
    embedder.batch = 8
    if gpu:
        if isinstance(embedder, TransformersClip):
            usual = embedder._picture_processor.to_dict()
            preprocess = Preprocess(16, (16, 16), tuple(usual["image_mean"]), tuple(usual["image_std"]))
        else:
            preprocess = Preprocess(16, (16, 16), MEAN, STD)
        embedder._gpu = GpuPreprocessor(preprocess, "cpu", decode)
        assert embedder.reads_jpegs
    return embedder


def embedded(model: str, folder: Path, workspace: Path, *, gpu: bool) -> tuple[dict[str, Any], dict[str, str]]:
    embedder = opened(model, gpu=gpu)
    made = embed_pictures(folder, embedder=embedder, session=Session(workspace))
    again = embed_pictures(folder, embedder=embedder, session=Session(workspace))
    assert again.from_cache == again.count == made.count
    return dict(zip(made.ids, made.vectors, strict=True)), {left.id: left.reason for left in made.left_out}


def test_vectors_and_failures_are_those_of_the_ordinary_way(model: str, tmp_path: Path) -> None:
    write_pictures(tmp_path / "pictures")
    expected, left = embedded(model, tmp_path / "pictures", tmp_path / "plain", gpu=False)
    found, left_too = embedded(model, tmp_path / "pictures", tmp_path / "gpu", gpu=True)
    assert left_too == left and set(left) == {"truncated.jpg", "broken.jpg"}
    assert list(found) == list(expected)
    assert min(float(found[name] @ expected[name]) for name in found) > 0.999


def test_a_full_memory_halves_the_batch_and_says_so_once(
    model: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_pictures(tmp_path / "pictures")
    expected, _ = embedded(model, tmp_path / "pictures", tmp_path / "plain", gpu=True)
    kind = type(opened(model, gpu=False))
    plain: Any = kind._features
    full = torch.OutOfMemoryError("CUDA out of memory")
    if kind is not TransformersClip:
        full = ort_error.RuntimeException("Available memory of 4 is smaller than requested bytes of 8")

    def features(self: GpuEmbedder, made: Any) -> Any:
        if len(made) > 2:
            raise full
        return plain(self, made)

    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(kind, "_features", features)
        found, _ = embedded(model, tmp_path / "pictures", tmp_path / "small", gpu=True)
    assert all(np.allclose(found[name], expected[name], atol=1e-3) for name in expected)
    said = [record.getMessage() for record in caplog.records if "memory is full" in record.getMessage()]
    assert [text.split(";")[1].split()[0] for text in said] == ["4", "2"]


def test_a_gpu_that_disappears_leaves_the_rest_to_the_processor(
    model: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_pictures(tmp_path / "pictures")
    expected, left = embedded(model, tmp_path / "pictures", tmp_path / "plain", gpu=False)
    decoded = []

    def vanishing(files: Sequence[bytearray]) -> list[Any]:
        decoded.append(len(files))
        if len(decoded) > 1:
            raise torch.AcceleratorError("CUDA error: device lost")
        return decode(files)

    with caplog.at_level(logging.WARNING), pytest.MonkeyPatch.context() as patch:
        patch.setattr("test_embedders_gpu.decode", vanishing)
        found, left_too = embedded(model, tmp_path / "pictures", tmp_path / "lost", gpu=True)
    assert left_too == left and list(found) == list(expected) and 2 <= len(decoded) <= 4
    assert "going on with the CPU" in caplog.text


@pytest.mark.parametrize("what", ["pictures", "texts"])
def test_so_it_does_for_what_is_no_jpeg(model: str, what: str, caplog: pytest.LogCaptureFixture) -> None:
    batch: Any = ["a red picture", "blue"]
    if what == "pictures":
        batch = [np.full((20, 30, 3), shade, np.uint8) for shade in (9, 99)]
    expected = getattr(opened(model, gpu=False), what)(batch)
    embedder = opened(model, gpu=True)
    lost = torch.AcceleratorError("CUDA error: unspecified launch failure")
    if not isinstance(embedder, TransformersClip):
        lost = ort_error.Fail("CUDA failure 719: unspecified launch failure")
    plain, calls = embedder._halved, []

    def halved(part: Any, features: Any) -> Any:
        calls.append(len(part))
        if len(calls) == 1:
            raise lost
        return plain(part, features)

    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(embedder, "_halved", halved)
        found = getattr(embedder, what)(batch)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert calls == [2, 2] and caplog.text.count("going on with the CPU") == 1 and not embedder.reads_jpegs


def test_a_fault_that_is_not_the_gpu_s_is_raised(model: str) -> None:
    embedder = opened(model, gpu=True)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ValueError, match="a fault"):
        patch.setattr(embedder, "_features", lambda made: (_ for _ in ()).throw(ValueError("a fault")))
        embedder.pictures([np.zeros((20, 30, 3), np.uint8)])


def test_a_worker_of_a_cluster_takes_the_same_way(model: str, tmp_path: Path) -> None:
    write_pictures(tmp_path / "pictures")
    expected, left = embedded(model, tmp_path / "pictures", tmp_path / "plain", gpu=False)
    paths = sorted((tmp_path / "pictures").iterdir())
    jobs = [DecodeJob(at, bytes(path), 32, 10**8, tmp_path / "none", None) for at, path in enumerate(paths)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "find_embedder", lambda *_, **__: opened(model, gpu=True))
        stage = cluster._stage(cast("Any", None), embedder=model, session=Session(tmp_path), options={})
    from_jpegs = 0

    async def work() -> dict[str, Any]:
        assert stage.close is not None
        pairs = await stage.function(jobs)
        await stage.close()
        assert isinstance(pairs, list)
        return {paths[job.number].name: found for job, found in pairs}

    plain = GpuEmbedder.attempt_jpegs

    def counting(self: GpuEmbedder, batch: Sequence[JpegFile]) -> EmbeddingAttempt:
        nonlocal from_jpegs
        from_jpegs += len(batch)
        return plain(self, batch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GpuEmbedder, "attempt_jpegs", counting)
        found = asyncio.run(work())
    assert from_jpegs >= 24
    assert {name: made.reason for name, made in found.items() if isinstance(made, DecodeRefused)} == left
    made = {name: one.vector for name, one in found.items() if isinstance(one, EmbeddedPicture)}
    assert made.keys() == expected.keys()
    assert min(float(made[name] @ expected[name]) for name in made) > 0.999
