"""Configuration: file, environment, command line, in rising priority."""

from sightline.config.settings import Config, DuplicateSettings, EventSettings, ScanSettings

__all__ = ["Config", "DuplicateSettings", "EventSettings", "ScanSettings"]
