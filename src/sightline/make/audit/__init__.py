"""Whether a benchmark deserves trust: shortcuts, twins, lopsided queries, drifting judges, checked labels."""

from sightline.make.audit.stage import AuditStage

__all__ = ["AuditStage"]
