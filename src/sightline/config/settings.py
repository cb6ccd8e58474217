"""Every setting, with its default; unknown keys are errors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A table of `sightline.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ScanSettings(Section):
    """`[scan]`: how a folder is read."""

    max_pixels: int = Field(180_000_000, gt=0, description="More pixels than this is a decompression bomb.")
    hidden: bool = Field(False, description="Take in hidden files and folders too.")
    owner_pattern: str | None = Field(None, description='Where the owner stands in a path: "{owner}/*".')
    workers: int | None = Field(None, ge=1, description="Worker processes; one per core when not set.")


class DuplicateSettings(Section):
    """`[duplicates]`: what counts as the same picture, and as a burst."""

    bits: int = Field(4, ge=0, le=16, description="Hashes that differ in at most this many of 64 bits are the same picture.")
    burst_bits: int = Field(14, ge=0, le=32, description="The same, between neighbours of a burst.")
    burst_seconds: float = Field(10.0, ge=0, description="Longest pause inside a burst.")


class EventSettings(Section):
    """`[events]`: when one event ends and the next begins."""

    gap_hours: float = Field(6.0, gt=0, description="A longer pause begins a new event.")
    distance_km: float = Field(50.0, gt=0, description="A longer jump begins a new event.")


class Config(Section):
    """The whole of `sightline.toml`."""

    scan: ScanSettings = ScanSettings()
    duplicates: DuplicateSettings = DuplicateSettings()
    events: EventSettings = EventSettings()
