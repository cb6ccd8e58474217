"""The built-in world: pictures drawn by code with ground truth, the lives they come from, and tasks over them."""
