"""Training data that goes from easy to hard: a plan, the records that it asks for, and how much they leak.

Docs: docs/curriculum.md.
"""
