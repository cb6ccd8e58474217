"""Asking models of transformers, those that `sightline train` made among them (`transformers/FOLDER`)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from sightline.errors import UserError
from sightline.models.failures import clip
from sightline.models.local_transformers import TransformersTransport
from sightline.models.providers import ModelName
from sightline.models.wire_settings import WireSettings


def open_transformers(name: ModelName, *, settings: WireSettings, local_only: bool) -> TransformersTransport:
    """What `transformers/…` names: a folder, or a model that transformers knows."""
    return TransformersTransport(name, load=_load, settings=settings, local_only=local_only)


def _load(name: ModelName, local_only: bool) -> tuple[Any, Any]:
    """A model and what reads for it; one that `sightline train` made, or what LoRA added to one, too."""
    from sightline.reason.train import models

    with models.offline() if local_only else nullcontext():
        try:
            return models.open_any(name.model)
        except (OSError, ValueError) as error:
            why = clip(models.why_not(error))
            raise UserError(f"{name} can't be loaded: {why}", "give a folder or a known model") from None
