"""Models that are known by a short name: where each of their files comes from, and what it must be.

Files are found in the models' folder, or downloaded into it once; anything else than the pinned bytes is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from sightline.errors import MissingExtraError, SightlineError, UserError
from sightline.io import read_json, sha256_of, write_json

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


_PATIENCE_SECONDS = 10.0
_CHECKED = "checked.json"
"""Which files were hashed, by size and date, so that a second start need not read them."""


def models_folder(configured: Path | None) -> Path:
    """Where downloaded models are kept: the configured folder, else the user's cache."""
    if configured is not None:
        return configured.expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sightline" / "models"


def fetch(model: KnownModel, folder: Path, *, local_only: bool = False) -> Path:
    """The folder with all files of the model, each the pinned one; what is missing is downloaded."""
    target = folder / model.name
    missing = [file for file in model.files if not (target / file.path).is_file()]
    if missing:
        if local_only or _offline():
            why = "--local-only allows no download" if local_only else "HF_HUB_OFFLINE is set"
            raise _not_here(model, missing, target, why)
        _download(model, missing, target)
    _check(model, target)
    return target


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def _download(model: KnownModel, missing: Iterable[PinnedFile], target: Path) -> None:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise MissingExtraError(f"downloading {model.name}", "hub") from None
    endpoint = os.environ.get("HF_ENDPOINT") or _HUB
    missing = list(missing)
    unreachable = _unreachable(endpoint)
    if unreachable is not None:
        raise _not_here(model, missing, target, f"{endpoint}: {unreachable}")
    _make(target)
    for file in missing:
        try:
            hf_hub_download(
                model.repo,
                file.path,
                revision=model.revision,
                local_dir=target,
                endpoint=endpoint,
                tqdm_class=_bar(),
            )
        except (OSError, ValueError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            left = [file for file in missing if not (target / file.path).is_file()]
            raise _not_here(model, left, target, f"{type(error).__name__}: {first}"[:300]) from None


def _unreachable(endpoint: str) -> str | None:
    """Why nothing answers there; the hub's own code would try for half a minute before it says so."""
    try:
        with urlopen(Request(endpoint, method="HEAD"), timeout=_PATIENCE_SECONDS):
            return None
    except HTTPError:
        return None
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__


def _make(target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{target} can't be written: {error.strerror}.", "name another folder in the configuration: [models] folder"
        ) from None


def _bar() -> type[Any]:
    """The hub's own progress bar, silent when nobody is watching."""
    from tqdm import tqdm

    class _Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            # An option of the hub's own class.
            options.pop("name", None)
            super().__init__(*arguments, **{**options, "disable": not sys.stderr.isatty()})

    return _Bar


def _not_here(model: KnownModel, missing: Iterable[PinnedFile], target: Path, why: str) -> UserError:
    lines = [
        f"  {target / file.path}\n    from {model.url(file)}\n    {file.size:,} bytes, sha256 {file.sha256}"
        for file in missing
    ]
    return UserError(
        f"{model.name} is not on this machine, and could not be downloaded ({why}).",
        "fetch these files where there is a network, put them here, and run the same command again:\n"
        + "\n".join(lines),
    )


def _check(model: KnownModel, target: Path) -> None:
    """Hash what was not hashed before; the wrong bytes are never used."""
    known = _remembered(target)
    seen: dict[str, list[Any]] = {}
    for file in model.files:
        path = target / file.path
        found = path.stat()
        seen[file.path] = [found.st_size, found.st_mtime_ns, file.sha256]
        if known.get(file.path) == seen[file.path]:
            continue
        actual = sha256_of(path) if found.st_size == file.size else f"that of {found.st_size:,} bytes"
        if actual != file.sha256:
            raise UserError(
                f"{path} is not the file that it should be: its sha256 is {actual}, not {file.sha256}.",
                f"delete it and run the same command again; the right one is at {model.url(file)}",
            )
    if seen != known:
        _remember(target, seen)


def _remembered(target: Path) -> dict[str, Any]:
    try:
        found = read_json(target / _CHECKED)
    except UserError:  # Not there, or broken: everything is hashed again.
        return {}
    return found if isinstance(found, dict) else {}


def _remember(target: Path, seen: dict[str, list[Any]]) -> None:
    try:
        write_json(target / _CHECKED, seen)
    except (SightlineError, OSError):  # A folder that can only be read: hash again next time.
        return
