"""What is in each picture, by the configured questions: asked of a chat model, in a batch, or of `builtin/photos`."""
