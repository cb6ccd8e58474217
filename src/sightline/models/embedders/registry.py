"""Embedders by name: `photos`, `clip-vit-b32`, `onnx:FOLDER`, `transformers:NAME`, `vllm/MODEL`, `http:…`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline import plugins
from sightline.config import Config
from sightline.errors import UserError, nearest
from sightline.io import PathLike
from sightline.models.asking import Asking
from sightline.models.embedders.known import KNOWN, KnownModel, find_known
from sightline.models.embedders.options import options_in, read_options
from sightline.models.embedders.servers import Setting, open_server
from sightline.models.names import PROVIDERS, ModelName, Provider, refuse_remote
from sightline.models.protocols import Embedder

DEFAULT = "photos"
"""What embeds real pictures when nothing better is configured."""


def find_embedder(
    name: str | None = None,
    *,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    local_only: bool = False,
    asking: Asking | None = None,
    **options: Any,
) -> Embedder:
    """The embedder of that name (the configured one, else `photos`); its options are checked, nothing is sent yet.

    Calls to servers are journaled in the workspace, and made as `asking` says. `local_only` refuses servers elsewhere,
    and downloads. A plug-in of the group `embedders` is a function of `(rest_of_name, **options)` that returns one.
    """
    asking = asking or Asking()
    if local_only:
        asking = replace(asking, local_only=True)
    setting = Setting(Path(workspace), config or Config(), asking)
    wanted = (name or setting.config.models.embedder or DEFAULT).strip()
    known = find_known(wanted.removeprefix("onnx:"))
    if known is not None:
        return _known(known, setting, options)
    if wanted.startswith(("http://", "https://")):
        return _address(wanted, setting, options)
    kind, rest = _split(wanted)
    if kind in PROVIDERS and not plugins.is_built_in("embedders", kind):
        return _provider(kind, rest, setting, options)
    plugin = plugins.find("embedders", kind)
    if plugin is None:
        raise _unknown(wanted)
    if plugin.package is not None:
        return _plugged(plugin, rest, setting, options)
    build: _Builder = plugin.load()
    return build(rest, setting, options)


def embedder_names() -> list[str]:
    """Every name, and every form of a name, that `find_embedder` understands."""
    plugged = [plugin.name for plugin in plugins.installed("embedders")]
    servers = [f"{name}/MODEL" for name, provider in PROVIDERS.items() if provider.kind == "http"]
    return [DEFAULT, *plugged, *KNOWN, "onnx:FOLDER", "transformers:NAME", *servers, "http:URL#MODEL"]


def _split(name: str) -> tuple[str, str]:
    """`kind:rest` or `kind/rest`, whichever sign comes first; a name with neither is all kind."""
    at = min((place for place in (name.find(":"), name.find("/")) if place >= 0), default=len(name))
    return name[:at], name[at + 1 :]


def _unknown(name: str) -> UserError:
    kind, _ = _split(name)
    names = embedder_names()
    if plugins.is_elsewhere("embedders", kind):
        return plugins.unknown("embedders", kind, "")
    near = nearest(name.lower(), [*names, *(part.partition(":")[0] for part in names)])
    hint = f'Did you mean "{near}"? ' if near else ""
    if "/" in name and near is None:
        hint = f'For a model on the hub: "transformers:{name}". '
    return UserError(f'unknown embedder "{name}".', f"{hint}Known: {', '.join(names)}")


# --- builders ------------------------------------------------------------------------------------------------


def _photos(rest: str, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.photos import Photos, PhotosOptions

    chosen = read_options(PhotosOptions, {**options_in(rest), **options}, DEFAULT)
    return Photos(**chosen.model_dump(), local_only=setting.local_only)


def _known(model: KnownModel, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.embedders.download import fetch, models_folder
    from sightline.models.embedders.folder import open_folder
    from sightline.models.embedders.onnx_clip import OnnxClip, OnnxOptions

    chosen = read_options(OnnxOptions, options, model.name)
    path = fetch(model, models_folder(setting.config.models.folder), local_only=setting.local_only)
    folder = open_folder(path, model.precision, model.settings)
    return OnnxClip(folder, name=model.name, revision=model.revision[:12], options=chosen)


def _onnx(rest: str, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.embedders.folder import open_folder
    from sightline.models.embedders.onnx_clip import FolderOptions, OnnxClip

    path = Path(rest).expanduser()
    if not path.is_dir() and "/" not in rest and (near := nearest(rest, KNOWN)):
        raise UserError(f'there is neither a folder nor a known model "{rest}".', f'Did you mean "{near}"?')
    chosen = read_options(FolderOptions, options, f"onnx:{rest}")
    return OnnxClip(open_folder(path, chosen.precision), name=f"onnx:{path.resolve().name}", options=chosen)


def _transformers(rest: str, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.embedders.transformers_clip import TransformersClip, TransformersOptions

    chosen = read_options(TransformersOptions, options, f"transformers:{rest}")
    return TransformersClip(rest, options=chosen, local_only=setting.local_only)


def _address(rest: str, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    url, mark, model = rest.partition("#")
    if not mark or not model:
        raise UserError(
            f'"{rest}" does not say which model is asked there.', "write it as http:http://localhost:8000/v1#MODEL"
        )
    # A key of its own: that of a provider is not for anybody else's server.
    provider = Provider("http", "http", url, ("EMBEDDINGS_API_KEY",))
    return open_server(ModelName(provider, model), setting, {"base_url": url, **options})


def _provider(kind: str, rest: str, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    provider = PROVIDERS[kind]
    if provider.kind != "http" or not rest:
        raise _unknown(f"{kind}/{rest}" if rest else kind)
    return open_server(ModelName(provider, rest), setting, options)


def _plugged(plugin: plugins.Plugin, rest: str, setting: Setting, options: Mapping[str, Any]) -> Embedder:
    made: Embedder = plugin.load()(rest, **options)
    endpoint = getattr(made, "endpoint", None)
    if setting.local_only and isinstance(endpoint, str):
        refuse_remote(made.name, endpoint)
    return made


_Builder = Callable[[str, Setting, Mapping[str, Any]], Embedder]
BUILDERS: Mapping[str, _Builder] = {
    "photos": _photos,
    "onnx": _onnx,
    "transformers": _transformers,
    "http": _address,
    "https": _address,
}
