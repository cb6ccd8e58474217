"""Five reference steps for interleaved questions: written by a model, checked, repaired, and reviewed by people.

Docs: docs/steps.md.
"""
