"""How hard a question is: by how often a model gets it right, by an agent's turns, or by a judge; kept on the task.

Docs: docs/difficulty.md.
"""
