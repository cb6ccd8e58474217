"""A server's name → the embedder that asks it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from sightline.config import Config
from sightline.config.services import Price, PriceSettings
from sightline.models.asking import Asking
from sightline.models.embedders.options import read_options
from sightline.models.keys import find_key
from sightline.models.names import PROVIDERS, ModelName, find_base_url, refuse_remote
from sightline.models.protocols import Embedder

if TYPE_CHECKING:
    from sightline.models.embedders.endpoints import EndpointOptions

# Asked as a conversation that ends with an empty answer, which the model goes on from.
_QWEN = "qwen3-vl-embedding"
_QWEN_INSTRUCTION = "Represent the user's input."
_INSTEAD = "use --embedder photos (free, on this machine)"
_COMPACT = ("openai", "vllm")
"""Servers that are known to send vectors as base64."""
_CHANGES = ("dimensions", "texts_as", "instruction", "prefix", "extra")
"""Options that change a vector."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What has to be known of an embedder beside its name and its options."""

    workspace: Path
    config: Config
    asking: Asking

    @property
    def local_only(self) -> bool:
        return self.asking.local_only


def open_server(name: ModelName, setting: Setting, given: Mapping[str, Any]) -> Embedder:
    """The embedder that asks this model; nothing is sent yet."""
    # Here, because they bring aiohttp with them.
    from sightline.engine.prices import Prices
    from sightline.models.embedders.endpoint_wire import EmbeddingTransport, Form
    from sightline.models.embedders.endpoints import EndpointEmbedder, EndpointOptions
    from sightline.models.settings import WireSettings

    options = read_options(EndpointOptions, given, str(name))
    if setting.asking.limits is not None:
        options = options.model_copy(update={"at_once": setting.asking.limits.most})
    models = setting.config.models
    endpoint = find_base_url(name, options.base_url, models)
    if setting.local_only:
        refuse_remote(str(name), endpoint, "use an embedder on this machine (photos, clip-vit-b32, onnx:FOLDER)")
    is_qwen = _QWEN in name.model.lower()
    if is_qwen:
        options = _like_qwen(options)
    form = Form(
        encoding=options.encoding_format or ("base64" if name.provider.name in _COMPACT else "float"),
        dimensions=options.dimensions,
        as_messages=options.texts_as == "messages",
        extra=options.extra,
    )
    transport = EmbeddingTransport(
        name,
        endpoint,
        form,
        key=find_key(name, endpoint, models, required=not setting.asking.plan, instead=_INSTEAD),
        settings=WireSettings.of(models),
        local_only=setting.local_only,
    )
    return EndpointEmbedder(
        transport,
        name=str(name),
        revision=_revision(endpoint, options),
        workspace=setting.workspace,
        options=options,
        prices=Prices(_with_silence(setting.config.prices, str(name))),
        budget=setting.asking.budget,
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
