"""Training of vision-language models in stages: torch, transformers, accelerate, numpy and Pillow are all it needs."""
