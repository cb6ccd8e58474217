"""The ways to write a curriculum: Sightline's own, and one for each training tool."""

from __future__ import annotations

from collections.abc import Mapping

from sightline.reason.curriculum.formats.base import Format
from sightline.reason.curriculum.formats.llama_factory import LLAMA_FACTORY
from sightline.reason.curriculum.formats.llava import LLAVA
from sightline.reason.curriculum.formats.ms_swift import MS_SWIFT
from sightline.reason.curriculum.formats.own import OWN
from sightline.reason.curriculum.formats.sharegpt import SHAREGPT
from sightline.reason.curriculum.formats.trl import TRL

FORMATS: Mapping[str, Format] = {one.name: one for one in (OWN, MS_SWIFT, LLAMA_FACTORY, TRL, LLAVA, SHAREGPT)}
"""By name."""
__all__ = ["FORMATS", "Format"]
