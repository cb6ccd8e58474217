"""Models that are known by a short name: where each of their files comes from, and what it must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file of a model, by its path in the repository; anything else than these bytes is refused."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model at one revision; `settings` are its small JSON files by name, written down here."""

    name: str
    repo: str
    revision: str
    licence: str
    files: tuple[PinnedFile, ...]
    precision: str = ""
    aliases: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def url(self, file: PinnedFile) -> str:
        """Where a person can fetch it."""
        return f"{_HUB}/{self.repo}/resolve/{self.revision}/{file.path}"


_CLIP_B32 = KnownModel(
    name="clip-vit-b32",
    repo="Xenova/clip-vit-base-patch32",
    revision="d15189d7028b43f1d3e65039190477f6af591c2a",
    licence="MIT (OpenAI CLIP)",
    aliases=("openai/clip-vit-base-patch32",),
    files=(
        PinnedFile(
            "onnx/vision_model.onnx", 351_685_709, "fd6e1402a588279d1723c7534d4bcba5bc0b14b47dfab0e46f8c47b8270d7d40"
        ),
        PinnedFile(
            "onnx/text_model.onnx", 254_058_553, "3f6571f5bad13a97c469c1622e1cfc4d9aef78b79fdbfcff804ca357bfada8cc"
        ),
        PinnedFile("tokenizer.json", 2_224_119, "f7f3b7af117d467b58374797691a6438d3e6b9e9cef800dfd5dced7f697a90cd"),
    ),
    settings={
        "preprocessor_config.json": {
            "size": {"shortest_edge": 224},
            "crop_size": {"height": 224, "width": 224},
            "do_center_crop": True,
            "resample": 3,
            "rescale_factor": 1 / 255,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
        },
        "tokenizer_config.json": {"model_max_length": 77, "pad_token": "<|endoftext|>", "do_lower_case": True},
    },
)
_SIGLIP_B16 = KnownModel(
    name="siglip-b16",
    repo="Xenova/siglip-base-patch16-224",
    revision="4649052661e53c7000355844105f8a1792088239",
    licence="Apache-2.0 (Google SigLIP)",
    aliases=("google/siglip-base-patch16-224",),
    files=(
        PinnedFile(
            "onnx/vision_model.onnx", 371_819_850, "f89d41bac7f4d4b87e010a467d93f98689d708916ed22f5a07f96fdfa26f475f"
        ),
        PinnedFile(
            "onnx/text_model.onnx", 441_332_132, "3aa7fdbd20eaa8740cce17bf82913de641fcb632a768fed59f661cdcd0c32553"
        ),
        PinnedFile("tokenizer.json", 2_398_744, "4a17c975210be5ab4c36b47d8dae4eefb866dbfb1e676e394aad85dc30a3ae08"),
    ),
    settings={
        "preprocessor_config.json": {
            "size": {"height": 224, "width": 224},
            "resample": 3,
            "rescale_factor": 1 / 255,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        },
        "tokenizer_config.json": {"model_max_length": 64, "pad_token": "</s>", "do_lower_case": True},
    },
)
_CLIP_B32_INT8 = replace(
    _CLIP_B32,
    name="clip-vit-b32-int8",
    precision="quantized",
    aliases=(),
    files=(
        PinnedFile(
            "onnx/vision_model_quantized.onnx",
            89_117_001,
            "583fd1110a514667812fee7d684952aaf82a99b959760c8d7dca7e0ab9839299",
        ),
        PinnedFile(
            "onnx/text_model_quantized.onnx",
            64_504_507,
            "73baab855d406190da9faa498cfedf65f15cf309f4cc7385b7b032e6d08e5c3a",
        ),
        _CLIP_B32.files[-1],
    ),
)
_SIGLIP_B16_INT8 = replace(
    _SIGLIP_B16,
    name="siglip-b16-int8",
    precision="quantized",
    aliases=(),
    files=(
        PinnedFile(
            "onnx/vision_model_quantized.onnx",
            99_499_129,
            "ef14a954f3d57e1806666432bd9785004c1dc27100aa260eee0cb0f10a5de058",
        ),
        PinnedFile(
            "onnx/text_model_quantized.onnx",
            111_475_220,
            "ad0329b1f35acc66d8953ff2559ce358da8eb0a7011794cf951523d63a4dbce2",
        ),
        _SIGLIP_B16.files[-1],
    ),
)

KNOWN: Mapping[str, KnownModel] = {
    model.name: model for model in (_CLIP_B32, _CLIP_B32_INT8, _SIGLIP_B16, _SIGLIP_B16_INT8)
}


def find_known(name: str) -> KnownModel | None:
    """The model of this short name, or of the name that it has on the hub."""
    return KNOWN.get(name) or next((model for model in KNOWN.values() if name in model.aliases), None)
