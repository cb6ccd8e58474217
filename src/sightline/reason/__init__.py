"""Traces of reasoning, their steps and difficulty, and what they teach."""
