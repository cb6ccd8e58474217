"""Embedders by name: `photos`, `world`, `clip-vit-b32`, `onnx:FOLDER`, `transformers:NAME`, `vllm/MODEL`, `http:…`.

Options are given as key and value, and checked; a wrong key is answered with the nearest right one.
To add one of ours: a builder in `BUILDERS` at the end, and its name in `plugins.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from pydantic import ValidationError

from sightline import plugins
from sightline.calls.session import Session
from sightline.config.section import StrictModel
from sightline.config.settings import Price, PriceSettings
from sightline.errors import UserError, did_you_mean, nearest
from sightline.models.embedders.known_models import KNOWN, KnownModel, find_known
from sightline.models.protocols import Embedder
from sightline.models.providers import (
    PROVIDERS,
    ModelName,
    Provider,
    find_base_url,
    find_key,
    parse_name,
    refuse_remote,
)

if TYPE_CHECKING:
    from sightline.models.embedders.http_embedder import EndpointOptions

Chosen = TypeVar("Chosen", bound=StrictModel)
# Asked as a conversation that ends with an empty answer, which the model goes on from.
_QWEN = "qwen3-vl-embedding"
_QWEN_INSTRUCTION = "Represent the user's input."
_INSTEAD = "use --embedder photos (free, on this machine)"
_COMPACT = ("openai", "vllm")
"""Servers that are known to send vectors as base64."""
_CHANGES = ("dimensions", "texts_as", "instruction", "prefix", "extra")
"""Options that change a vector."""
DEFAULT = "photos"
"""What embeds real pictures when nothing better is configured."""


def read_options(kind: type[Chosen], given: Mapping[str, Any], embedder: str) -> Chosen:
    """The options as one checked value; a wrong one is the user's mistake, told with what is right."""
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        found = error.errors()[0]
    key = str(found["loc"][0])
    if found["type"] == "extra_forbidden" and key == "base_url":
        raise UserError(f"{embedder} asks no server, so it has no address.", "leave --base-url out")
    if found["type"] != "extra_forbidden":
        raise UserError(f"option {key} of the embedder {embedder}: {found['msg'].lower()}.", _options_of(kind))
    hint = did_you_mean(key, kind.model_fields, _options_of(kind))
    raise UserError(f'the embedder {embedder} has no option "{key}".', hint)


def options_in(rest: str) -> dict[str, Any]:
    """What follows a name and its colon: `head=false,threads=2`."""
    pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
    return {key.strip(): parse_value(value.strip()) for key, _, value in pairs}


def parse_value(text: str) -> Any:
    """`256`, `true`, `{"a": 1}` as JSON has it; any other text is itself."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _options_of(kind: type[StrictModel]) -> str:
    return f"Options: {', '.join(kind.model_fields)}" if kind.model_fields else "It takes no options."


def open_server(name: ModelName, session: Session, given: Mapping[str, Any]) -> Embedder:
    """The embedder that asks this model; nothing is sent yet."""
    # Here, because they bring aiohttp with them.
    from sightline.calls.prices import Prices
    from sightline.models.embedders.http_embedder import (
        EmbeddingForm,
        EmbeddingTransport,
        EndpointEmbedder,
        EndpointOptions,
    )
    from sightline.models.wire_settings import WireSettings

    options = read_options(EndpointOptions, given, str(name))
    if session.calls.limits is not None:
        options = options.model_copy(update={"at_once": session.calls.limits.most})
    models = session.config.models
    endpoint = find_base_url(name, options.base_url, models)
    if session.calls.local_only:
        refuse_remote(str(name), endpoint, "use an embedder on this machine (photos, clip-vit-b32, onnx:FOLDER)")
    is_qwen = _QWEN in name.model.lower()
    if is_qwen:
        options = _like_qwen(options)
    form = EmbeddingForm(
        encoding=options.encoding_format or ("base64" if name.provider.name in _COMPACT else "float"),
        dimensions=options.dimensions,
        as_messages=options.texts_as == "messages",
        extra=options.extra,
    )
    transport = EmbeddingTransport(
        name,
        endpoint,
        form,
        key=find_key(name, endpoint, models, required=not session.calls.plan, instead=_INSTEAD),
        settings=WireSettings.of(models),
        local_only=session.calls.local_only,
    )
    if session.calls.shared is not None:
        raise UserError(
            f"{name} asks a server, with a budget and a journal that other machines of a cluster don't share.",
            "Leave --engine out, or choose an embedder that computes vectors itself, such as photos.",
        )
    return EndpointEmbedder(
        transport,
        name=str(name),
        revision=_revision(endpoint, options),
        workspace=session.workspace,
        options=options,
        prices=Prices(_with_silence(session.config.prices, str(name))),
        budget=session.calls.budget,
        sees=endpoint != PROVIDERS["openai"].base_url,
        ends_open=is_qwen and form.as_messages,
    )


def _like_qwen(options: EndpointOptions) -> EndpointOptions:
    instruction = _QWEN_INSTRUCTION if options.instruction is None else options.instruction
    return options.model_copy(update={"texts_as": options.texts_as or "messages", "instruction": instruction})


def _with_silence(prices: PriceSettings, model: str) -> PriceSettings:
    """An embedder says nothing, so price lists have no price for what it says: it is zero, unless told otherwise."""
    given = prices.models.get(model, Price())
    silent = given if given.output is not None else given.model_copy(update={"output": 0.0})
    return prices.model_copy(update={"models": {**prices.models, model: silent}})


def _revision(endpoint: str, options: EndpointOptions) -> str:
    """Servers do not say which weights they run: where they are asked, and all that changes a vector, stand for it."""
    changes = {name: getattr(options, name) for name in _CHANGES}
    digest = hashlib.sha256(orjson.dumps(changes, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]
    return f"{options.revision or endpoint} {digest}"


def find_embedder(name: str | None = None, session: Session | None = None, **options: Any) -> Embedder:
    """The embedder of that name (the configured one, else `photos`); its options are checked, nothing is sent yet.

    Calls to servers are journaled in the workspace, and made as the session says; with `local_only` servers elsewhere
    and downloads are refused. A plug-in of the group `embedders` is a function of `(rest_of_name, **options)`.
    """
    session = Session.of(session)
    wanted = (name or session.config.models.embedder or DEFAULT).strip()
    known = find_known(wanted.removeprefix("onnx:"))
    if known is not None:
        return _known(known, session, options)
    if wanted.startswith(("http://", "https://")):
        return _address(wanted, session, options)
    kind, rest = _split(wanted)
    if kind in PROVIDERS and not plugins.is_built_in("embedders", kind):
        return _provider(kind, rest, session, options)
    plugin = plugins.find("embedders", kind)
    if plugin is None:
        raise _unknown(wanted)
    if plugin.package is not None:
        return _plugged(plugin, rest, session, options)
    build: _Builder = plugin.load()
    return build(rest, session, options)


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
    own = "One of your own is given as an object: embedder=FunctionEmbedder(…)."
    return UserError(f'unknown embedder "{name}".', f"{hint}Known: {', '.join(names)}. {own}")


# --- builders ------------------------------------------------------------------------------------------------


def _photos(rest: str, session: Session, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.photos.embedder import Photos, PhotosOptions

    chosen = read_options(PhotosOptions, {**options_in(rest), **options}, DEFAULT)
    return Photos(**chosen.model_dump(), local_only=session.calls.local_only)


def _known(model: KnownModel, session: Session, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.embedders.known_models import fetch, models_folder
    from sightline.models.embedders.onnx_clip import OnnxClip, OnnxOptions
    from sightline.models.embedders.onnx_folder import open_folder

    chosen = read_options(OnnxOptions, options, model.name)
    path = fetch(model, models_folder(session.config.models.folder), local_only=session.calls.local_only)
    folder = open_folder(path, model.precision, model.settings)
    return OnnxClip(folder, name=model.name, revision=model.revision[:12], options=chosen)


def _onnx(rest: str, session: Session, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.embedders.onnx_clip import FolderOptions, OnnxClip
    from sightline.models.embedders.onnx_folder import open_folder

    path = Path(rest).expanduser()
    if not path.is_dir() and "/" not in rest and (near := nearest(rest, KNOWN)):
        raise UserError(f'there is neither a folder nor a known model "{rest}".', f'Did you mean "{near}"?')
    chosen = read_options(FolderOptions, options, f"onnx:{rest}")
    return OnnxClip(open_folder(path, chosen.precision), name=f"onnx:{path.resolve().name}", options=chosen)


def _transformers(rest: str, session: Session, options: Mapping[str, Any]) -> Embedder:
    from sightline.models.embedders.transformers_clip import TransformersClip, TransformersOptions

    chosen = read_options(TransformersOptions, options, f"transformers:{rest}")
    return TransformersClip(rest, options=chosen, local_only=session.calls.local_only)


def _address(rest: str, session: Session, options: Mapping[str, Any]) -> Embedder:
    url, mark, model = rest.partition("#")
    if not mark or not model:
        raise UserError(
            f'"{rest}" does not say which model is asked there.', "write it as http:http://localhost:8000/v1#MODEL"
        )
    # A key of its own: that of a provider is not for anybody else's server.
    provider = Provider("http", "http", url, ("EMBEDDINGS_API_KEY",))
    return open_server(ModelName(provider, model), session, {"base_url": url, **options})


def _provider(kind: str, rest: str, session: Session, options: Mapping[str, Any]) -> Embedder:
    provider = PROVIDERS[kind]
    if provider.kind != "http" or not rest:
        raise _unknown(f"{kind}/{rest}" if rest else kind)
    return open_server(parse_name(f"{kind}/{rest}"), session, options)


def _plugged(plugin: plugins.Plugin, rest: str, session: Session, options: Mapping[str, Any]) -> Embedder:
    made: Embedder = plugin.load()(rest, **options)
    endpoint = getattr(made, "endpoint", None)
    if session.calls.local_only and isinstance(endpoint, str):
        refuse_remote(made.name, endpoint)
    return made


_Builder = Callable[[str, Session, Mapping[str, Any]], Embedder]
BUILDERS: Mapping[str, _Builder] = {
    "photos": _photos,
    "onnx": _onnx,
    "transformers": _transformers,
    "http": _address,
    "https": _address,
}
