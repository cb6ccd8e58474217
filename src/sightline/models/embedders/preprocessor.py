"""Pictures and texts as a CLIP-like model takes them, exactly as its reference code does it.

Pictures are resized, cropped and normalised; texts become token numbers of one length, with a note of which were cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UserError, needs_extra
from sightline.models.protocols import Pixels

Size: TypeAlias = tuple[int, int]
"""Height, width."""
Middle: TypeAlias = Literal["floor", "round"]
Triple: TypeAlias = tuple[float, float, float]

_LONGEST_ASPECT = 16
"""Past this, only the part that is kept is resized: a 30,000 × 10 picture would need gigabytes otherwise."""
_INTERPOLATIONS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5, "random": 3}
_OTHERWISE = "use transformers:FOLDER, which runs the model's own code"
_UNKNOWN = ("do_pad", "do_split_image", "do_image_splitting", "max_num_patches", "min_pixels", "max_pixels")
"""Settings of processors that do more than resize, crop and normalise."""
_ENDLESS = 100_000
"""A `model_max_length` above this means "no limit stated"."""


@dataclass(frozen=True, slots=True)
class Preprocess:
    """`resize` is the length of the shorter side, or the exact size; `crop` the part in the middle that is kept.

    Half a pixel in the middle goes down (transformers) or to the even side (torchvision), as `middle` says.
    """

    resize: int | Size
    crop: Size | None
    mean: Triple
    std: Triple
    scale: float = 1 / 255
    resample: int = 3
    middle: Middle = "floor"
    _table: NDArray[np.float32] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # 256 × 3 values, so that a pixel costs one look-up and is what float arithmetic would give.
        levels = (np.arange(256, dtype=np.float64) * self.scale).astype(np.float32)
        mean, std = np.array(self.mean, dtype=np.float32), np.array(self.std, dtype=np.float32)
        table: NDArray[np.float32] = (levels[:, None] - mean) / std
        object.__setattr__(self, "_table", table)

    @property
    def size(self) -> Size | None:
        """Height and width of what comes out, where they are always the same."""
        if self.crop is not None:
            return self.crop
        return self.resize if isinstance(self.resize, tuple) else None

    @property
    def side(self) -> int:
        """The shorter side that a picture should have at least: twice what it is resized to, to lose nothing."""
        return 2 * (max(self.resize) if isinstance(self.resize, tuple) else self.resize)

    def __call__(self, pixels: Pixels) -> NDArray[np.float32]:
        """Three channels × height × width."""
        small = self._resized(Image.fromarray(np.ascontiguousarray(pixels)))
        channels = [self._table[small[..., channel], channel] for channel in range(3)]
        return np.stack(channels)

    def _resized(self, image: Image.Image) -> NDArray[np.uint8]:
        (height, width), (top, left), crop = self.geometry(image.height, image.width)
        resample = Image.Resampling(self.resample)
        bottom, right = top + crop[0], left + crop[1]
        if self.crop is not None and is_long(height, width):
            across, down = image.width / width, image.height / height
            box = (left * across, top * down, right * across, bottom * down)
            return np.asarray(image.resize((crop[1], crop[0]), resample, box=box))
        return np.asarray(image.resize((width, height), resample))[top:bottom, left:right]

    def geometry(self, height: int, width: int) -> tuple[Size, Size, Size]:
        """To what a picture of this size is resized, and the corner and the size of the part that is kept."""
        target = self._target(height, width)
        crop = self.crop or target
        top, left = (self._start(whole, part) for whole, part in zip(target, crop, strict=True))
        return target, (top, left), crop

    def _target(self, height: int, width: int) -> Size:
        if isinstance(self.resize, tuple):
            return self.resize
        short, long = sorted((height, width))
        longer = int(self.resize * long / short)
        return (self.resize, longer) if height <= width else (longer, self.resize)

    def _start(self, whole: int, part: int) -> int:
        return (whole - part) // 2 if self.middle == "floor" else round((whole - part) / 2)


def is_long(height: int, width: int) -> bool:
    """Is only the part that is kept worth resizing?"""
    return max(height, width) > _LONGEST_ASPECT * min(height, width)


def read_preprocessor(config: Mapping[str, Any], place: str) -> Preprocess:
    """What a `preprocessor_config.json` of transformers says."""
    strange = [name for name in _UNKNOWN if config.get(name)]
    if strange or not config.get("do_resize", True):
        what = f"{strange[0]} = {config[strange[0]]!r}" if strange else "do_resize = false"
        raise UserError(
            f"{place}: {what} is not known here.", "use transformers:FOLDER, which runs the model's own code"
        )
    resize = _edge(config.get("size"), place)
    crop = _size(config.get("crop_size"), place) if config.get("do_center_crop", "crop_size" in config) else None
    if isinstance(resize, int) and crop is None:
        crop_needed = "a shorter side and no crop, so pictures would differ in size"
        raise UserError(f"{place}: {crop_needed}.", _OTHERWISE)
    normal = config.get("do_normalize", True)
    made = Preprocess(
        resize=resize,
        crop=crop,
        mean=_triple(config.get("image_mean") if normal else [0, 0, 0], "image_mean", place),
        std=_triple(config.get("image_std") if normal else [1, 1, 1], "image_std", place),
        scale=float(config.get("rescale_factor", 1 / 255)) if config.get("do_rescale", True) else 1.0,
        resample=int(config.get("resample", 3)),
    )
    return _fitting(made, place)


def read_open_clip(config: Mapping[str, Any], place: str) -> Preprocess:
    """What a `preprocess_cfg.json` of OpenCLIP says."""
    mode = config.get("resize_mode", "shortest")
    if mode not in ("shortest", "squash"):
        raise UserError(f"{place}: resize_mode {mode!r} is not known here.", 'known: "shortest", "squash"')
    size = _size(config.get("size"), place)
    if mode == "shortest" and size[0] != size[1]:
        raise UserError(f"{place}: size {list(size)} is not a square.", "only square pictures are cropped here")
    made = Preprocess(
        resize=size[0] if mode == "shortest" else size,
        crop=size if mode == "shortest" else None,
        mean=_triple(config.get("mean"), "mean", place),
        std=_triple(config.get("std"), "std", place),
        resample=_INTERPOLATIONS.get(str(config.get("interpolation", "bicubic")), 3),
        middle="round",
    )
    return _fitting(made, place)


def _fitting(made: Preprocess, place: str) -> Preprocess:
    smallest = min(made.resize) if isinstance(made.resize, tuple) else made.resize
    if smallest <= 0 or made.resample not in range(6) or (made.crop and max(made.crop) > smallest):
        raise UserError(f"{place}: its sizes do not fit together.", "is the file complete, and of this model?")
    return made


def _edge(value: Any, place: str) -> int | Size:
    if isinstance(value, int):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("shortest_edge"), int):
        return int(value["shortest_edge"])
    return _size(value, place)


def _size(value: Any, place: str) -> Size:
    if isinstance(value, int):
        return value, value
    if isinstance(value, Mapping) and isinstance(value.get("height"), int) and isinstance(value.get("width"), int):
        return value["height"], value["width"]
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(side, int) for side in value):
        return value[0], value[1]
    raise UserError(f"{place}: {value!r} is not a size.", 'expected a number, or {"height": …, "width": …}')


def _triple(value: Any, name: str, place: str) -> Triple:
    numbers = (
        isinstance(value, list | tuple) and len(value) == 3 and all(isinstance(part, int | float) for part in value)
    )
    if not numbers or ("std" in name and not all(value)):
        raise UserError(f"{place}: {name} must be three numbers, one for each colour, and no deviation may be zero.")
    return float(value[0]), float(value[1]), float(value[2])


class Tokenised(NamedTuple):
    """Token numbers and their mask, one row for each text; `cut` tells the texts that were too long."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    cut: NDArray[np.bool_]


class ClipTokenizer:
    """The tokenizer of a model; `limit` is the longest text in tokens, special ones included."""

    def __init__(self, path: Path, settings: Mapping[str, Any], limit: int) -> None:
        with needs_extra("reading texts with a tokenizer.json", "onnx"):
            from tokenizers import Tokenizer
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # The package raises bare exceptions for any fault of the file.
            raise UserError(f"{path} is not a tokenizer: {error}.", "is the file whole?") from None
        self.limit = limit
        self._pad = _pad_id(self._tokenizer, settings)
        # In tokenizer.json too, as a rule; where it is not, this is where it is said.
        self._lower = bool(settings.get("do_lower_case", False))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(limit)

    def __call__(self, texts: Sequence[str], length: int | None = None) -> Tokenised:
        """All texts at the length of the longest, or at `length`."""
        words = [text.lower() for text in texts] if self._lower else list(texts)
        found = self._tokenizer.encode_batch_fast(words)
        columns = length or max((len(text.ids) for text in found), default=0)
        ids = np.full((len(found), columns), self._pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(found):
            ids[row, : len(text.ids)] = text.ids
            mask[row, : len(text.ids)] = 1
        return Tokenised(ids, mask, np.array([bool(text.overflowing) for text in found], dtype=bool))


def text_limit(settings: Mapping[str, Any], config: Mapping[str, Any], fixed: int | None) -> int | None:
    """The longest text in tokens: what the graph is fixed to, else what the tokenizer or the model states."""
    inner = config.get("text_config")
    positions = inner.get("max_position_embeddings") if isinstance(inner, Mapping) else None
    for limit in (fixed, settings.get("model_max_length"), positions, config.get("context_length")):
        if isinstance(limit, int | float) and 0 < limit < _ENDLESS:
            return int(limit)
    return None


def _pad_id(tokenizer: Any, settings: Mapping[str, Any]) -> int:
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    token = settings.get("pad_token")
    word = token.get("content") if isinstance(token, Mapping) else token
    found = tokenizer.token_to_id(word) if isinstance(word, str) else None
    return 0 if found is None else int(found)
