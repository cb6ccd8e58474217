"""A folder with an ONNX model: which file is what, and what its settings say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sightline.errors import UserError
from sightline.io.files import sha256_of
from sightline.io.jsonl import read_json
from sightline.models.embedders.preprocessor import Preprocess, read_open_clip, read_preprocessor

# As transformers.js and Optimum lay out a model, and as Immich does (one folder for each tower).
_VISION = ("onnx/vision_model{}.onnx", "vision_model{}.onnx", "visual/model{}.onnx", "visual{}.onnx")
_TEXT = ("onnx/text_model{}.onnx", "text_model{}.onnx", "textual/model{}.onnx", "textual{}.onnx")
_BESIDE = ("", "textual/", "visual/")
_OPEN_CLIP = "preprocess_cfg.json"

Settings: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Small JSON files by name."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The two towers (one may be missing), the tokenizer, and the small settings files by name."""

    path: Path
    vision: Path | None
    text: Path | None
    tokenizer: Path | None
    settings: Settings

    def preprocess(self) -> Preprocess:
        """How a picture is made ready for the picture tower."""
        if "preprocessor_config.json" in self.settings:
            name = "preprocessor_config.json"
            return read_preprocessor(self.settings[name], f"{self.path}/{name}")
        if _OPEN_CLIP in self.settings:
            return read_open_clip(self.settings[_OPEN_CLIP], f"{self.path}/{_OPEN_CLIP}")
        raise UserError(
            f"{self.path} has no preprocessor_config.json, so pictures can't be made ready for the model.",
            "put the one of the model there; it lies beside its weights where they come from",
        )

    def fingerprint(self) -> str:
        """What tells this model from any other: a hash of its weights, its tokenizer and its settings."""
        digest = hashlib.sha256()
        for tower in filter(None, (self.vision, self.text, self.tokenizer)):
            for file in (tower, *_outside_weights(tower)):
                digest.update(f"{file.name} {sha256_of(file)}\n".encode())
        for name, values in sorted(self.settings.items()):
            digest.update(f"{name} {sorted(values.items())!r}\n".encode())
        return digest.hexdigest()[:16]


def open_folder(path: Path, precision: str = "", settings: Settings | None = None) -> ModelFolder:
    """Look what a folder holds; `settings` win over files of the same name."""
    if not path.is_dir():
        raise UserError(f"there is no folder {path} with an ONNX model.", "check the path after onnx:")
    suffix = f"_{precision}" if precision else ""
    vision, text = (_first(path, [name.format(suffix) for name in names]) for names in (_VISION, _TEXT))
    if vision is None and text is None:
        wanted = ", ".join(names[0].format(suffix) for names in (_VISION, _TEXT))
        there = sorted(str(file.relative_to(path)) for file in path.rglob("*.onnx"))
        raise UserError(
            f"{path} holds no picture tower and no text tower.",
            f"expected {wanted}; there are: {', '.join(there) or 'no .onnx files'}",
        )
    found = dict(settings or {})
    for name in ("config.json", "preprocessor_config.json", "tokenizer_config.json", _OPEN_CLIP):
        file = _first(path, [beside + name for beside in _BESIDE])
        if file is not None and name not in found:
            found[name] = _mapping(file)
    tokenizer = _first(path, [beside + "tokenizer.json" for beside in _BESIDE])
    return ModelFolder(path, vision, text, tokenizer, found)


def _first(folder: Path, names: Iterable[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _mapping(file: Path) -> Mapping[str, Any]:
    found = read_json(file)
    if not isinstance(found, dict):
        raise UserError(f"{file} must hold one JSON object.", "is it the file of this model?")
    return found


def _outside_weights(tower: Path) -> list[Path]:
    """Large models keep their weights in files beside the graph."""
    return sorted(file for file in tower.parent.glob(f"{tower.name}_data*") if file.is_file())
