"""Which pictures of a pool fit its query: judged by who sees them, alone or as a panel."""

from sightline.make.judge.stage import JudgeStage

__all__ = ["JudgeStage"]
