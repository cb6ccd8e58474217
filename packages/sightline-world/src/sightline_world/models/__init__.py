"""Models that are part of Sightline: small, trained on the built-in world, run on this machine with onnxruntime."""
