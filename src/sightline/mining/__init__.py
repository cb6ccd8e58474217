"""A photo history → questions that need its context, with the graph that they come from. Docs: docs/mine.md."""
