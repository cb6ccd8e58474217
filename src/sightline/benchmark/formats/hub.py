"""Data sets by their name on the Hugging Face hub, with the `hub` extra; everything else works without it."""

from __future__ import annotations

from pathlib import Path

from sightline.errors import MissingExtraError, UserError


def download(name: str, *, revision: str | None = None) -> Path:
    """The files of a data set, from the hub or from its cache on this machine; a folder."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError(f"loading {name} by its name", "hub") from None
    try:
        return Path(snapshot_download(name, repo_type="dataset", revision=revision))
    except Exception as error:  # Whatever its HTTP client of the day raises.
        raise UserError(
            f"{name} could not be had from the hub: {type(error).__name__}.",
            "download its files elsewhere and give their folder, or set HF_TOKEN if it asks for a login",
        ) from error
