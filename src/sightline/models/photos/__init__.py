"""Real photographs without a hub: the embedder `photos`, and what else the same networks can say of a picture."""
