"""Authoring: a folder of pictures becomes a benchmark, stage by stage.

Each stage reads and writes documented files, and resumes what was begun.
"""
