"""The files of a project → one benchmark."""

from sightline.make.assemble.stage import AssembleStage

__all__ = ["AssembleStage"]
