"""Configuration: file, environment, command line, in rising priority."""

from sightline.config.loader import Loaded, load
from sightline.config.settings import Config, DuplicateSettings, EventSettings, ScanSettings
from sightline.config.sources import Unmapped

__all__ = ["Config", "DuplicateSettings", "EventSettings", "Loaded", "ScanSettings", "Unmapped", "load"]
