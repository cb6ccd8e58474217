"""Training data that goes from easy to hard: a plan, the records that it asks for, and the proof that none leaks.

Docs: docs/curriculum.md.
"""
