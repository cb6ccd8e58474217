"""Corpus → benchmark, stage by stage: each reads and writes documented files, and takes up what was begun."""
