"""Agents: tools, memory, the loop, the trajectory; as systems under test, and for a person's own photographs."""
