"""Configuration: file, environment, command line, in rising priority."""

from sightline.config.layer import Unmapped
from sightline.config.load import Loaded, load
from sightline.config.settings import Config, DuplicateSettings, EventSettings, ScanSettings

__all__ = ["Config", "DuplicateSettings", "EventSettings", "Loaded", "ScanSettings", "Unmapped", "load"]
