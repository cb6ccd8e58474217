"""A published folder on the Hugging Face hub: one commit, after all that is large is there; a stop loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.authoring.dataset.folder import TABLES
from sightline.authoring.dataset.manifest import read_manifest
from sightline.config.section import Hidden
from sightline.errors import SightlineError, UserError, needs_extra

Tell = Callable[[str], None]
_KIND = "dataset"


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Where the data set is now, how many files it has of ours, and how many that were there before are gone."""

    repo: str
    url: str
    files: int
    removed: int


def upload(
    folder: Path,
    repo: str,
    token: Hidden | None,
    *,
    private: bool = True,
    endpoint: str | None = None,
    squash: bool = False,
    tell: Tell = lambda _: None,
) -> Uploaded:
    """Bring the data set `repo` to what the folder holds.

    Large files go first, one by one; what the hub has already, from an earlier run that stopped, is not sent again.
    Then one commit makes all of it visible at once, and takes away tables that are no longer there. With `squash` the
    history before it goes too, so that what was taken down can't be had from an older commit.
    """
    if repo.count("/") != 1 or not all(repo.split("/")):
        raise UserError(f'"{repo}" is no name of a data set.', 'give it as "owner/name"')
    manifest = read_manifest(folder)
    files = sorted((*manifest.files, "sightline.json"))
    api, hub = _open(endpoint, token)
    with _told(token):
        address = api.create_repo(repo, repo_type=_KIND, private=private, exist_ok=True)
        there = {
            entry.path
            for entry in api.list_repo_tree(repo, recursive=True, repo_type=_KIND)
            if hasattr(entry, "blob_id")
        }
        additions = [hub.CommitOperationAdd(path_in_repo=name, path_or_fileobj=str(folder / name)) for name in files]
        for number, addition in enumerate(additions, 1):
            tell(f"{number} of {len(additions)}: {addition.path_in_repo}")
            api.preupload_lfs_files(repo, [addition], repo_type=_KIND)
        stale = sorted(path for path in there - set(files) if path.split("/")[0] in TABLES)
        deletions = [hub.CommitOperationDelete(path_in_repo=path) for path in stale]
        api.create_commit(
            repo, [*additions, *deletions], commit_message=f"{manifest.name} {manifest.version}", repo_type=_KIND
        )
        if squash:
            api.super_squash_history(repo, repo_type=_KIND)
    return Uploaded(repo, str(address), len(files), len(stale))


def _open(endpoint: str | None, token: Hidden | None) -> tuple[Any, Any]:
    with needs_extra("publishing on the Hugging Face hub", "hub"):
        import huggingface_hub
    if token is None:
        raise UserError("there is no token for the Hugging Face hub.", "set HF_TOKEN in the environment")
    return huggingface_hub.HfApi(endpoint=endpoint, token=token.get_secret_value()), huggingface_hub


@contextmanager
def _told(token: Hidden | None) -> Iterator[None]:
    """What goes wrong at the hub, in our words and never with the token."""
    from huggingface_hub.errors import HfHubHTTPError

    # The library wraps what goes wrong while sending in the last two, and lets a lost connection through.
    faults: tuple[type[Exception], ...] = (*_network_errors(), OSError, RuntimeError, ValueError)
    try:
        yield
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", None)
        if status in (401, 403):
            raise UserError(
                f"the hub refuses ({status}): {_without(token, error)}.", "check HF_TOKEN, and that it may write there"
            ) from None
        raise _stopped(token, error) from None
    except faults as error:
        raise _stopped(token, error) from None


def _network_errors() -> tuple[type[Exception], ...]:
    """What a lost connection raises: that depends on which HTTP library the hub's own errors are made from."""
    from huggingface_hub.errors import HfHubHTTPError

    return tuple(base for base in HfHubHTTPError.__mro__ if base.__name__ == "HTTPError")


def _stopped(token: Hidden | None, error: BaseException) -> SightlineError:
    cause: Sequence[BaseException] = [one for one in (error, error.__cause__) if one is not None]
    said = "; ".join(_without(token, one) for one in cause)
    return SightlineError(
        f"the upload stopped: {said}.", "run the same command again: what arrived is not sent a second time"
    )


def _without(token: Hidden | None, error: BaseException) -> str:
    line = " ".join(str(error).split())[:300]
    return line if token is None else line.replace(token.get_secret_value(), "***")
