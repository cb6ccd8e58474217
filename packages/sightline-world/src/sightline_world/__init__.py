"""The built-in world: pictures drawn by code with exact truth, the lives they come from, and tasks over them."""
