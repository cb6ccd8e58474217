"""A model's name becomes the transport that calls it."""

from __future__ import annotations

from dataclasses import dataclass

from sightline import plugins
from sightline.config.section import Hidden
from sightline.config.settings import ModelSettings
from sightline.errors import UserError
from sightline.models.built_in import chat_of
from sightline.models.protocols import Transport, wire_of
from sightline.models.providers import (
    CUSTOMER_ADDRESSED,
    NO_KEY_HINT,
    PROVIDERS,
    SERVER_KEY_HINT,
    ModelName,
    check_url,
    find_base_url,
    find_key,
    parse_name,
    refuse_remote,
)
from sightline.models.wire_settings import Api, WireSettings
from sightline.types.chat import split_model


def open_transport(
    name: str,
    *,
    base_url: str | None = None,
    api: Api | None = None,
    settings: WireSettings | None = None,
    models: ModelSettings | None = None,
    local_only: bool = False,
    sends: bool = True,
    vouched: bool = True,
    instead: str = NO_KEY_HINT,
) -> Transport:
    """What asks this model, one attempt at a time; nothing is sent yet.

    Without `sends` nothing will be, so an HTTP model's key may be missing; otherwise `instead` is what is offered in
    its place. Not `vouched`: the address comes from a file, so keys go only where `find_key` says. `models` is the
    `[models]` table of the configuration: keys, and what is not given here. Without it, keys come from the environment.
    A provider that is not ours may be plugged in by the entry point `sightline.chat`: a function of `(model, *,
    base_url, settings)` that returns a Transport.
    """
    settings = settings or (WireSettings() if models is None else WireSettings.of(models))
    plugged = _plugged_in(name, base_url, settings)
    if plugged is not None:
        if local_only:
            refuse_remote(name, plugged.endpoint)
        return plugged
    parsed = parse_name(name)
    match parsed.provider.kind:
        case "http":
            api = api or (models.api if models is not None else "chat")
            key = _Key(models, required=sends, instead=instead, vouched=vouched)
            return _open_http(parsed, base_url, api, settings, key, local_only)
        case "any-llm":
            there = parsed.address or base_url
            return _open_any_llm(parsed, there, api, settings, _Key(models, instead=instead), local_only)
        case _:
            if parsed.address is not None or base_url is not None:
                raise UserError(f"{parsed} runs in this process, so it has no address.", "leave the address out")
            return _open_here(parsed, settings, local_only)


def find_endpoint(name: str, *, base_url: str | None = None, models: ModelSettings | None = None) -> str:
    """Where this model would be asked, which its calls are kept under; needs neither its key nor its package."""
    plugged = _plugged_in(name, base_url, WireSettings())
    if plugged is not None:
        return plugged.endpoint
    parsed = parse_name(name)
    match parsed.provider.kind:
        case "http":
            return find_base_url(parsed, base_url, models)
        case "any-llm":
            from sightline.models.anyllm import provider_of

            return parsed.address or base_url or provider_of(parsed)[0]
        case "builtin":
            return chat_of(parsed).endpoint()
        case _:
            return f"{parsed.provider.name}:{parsed.model}"


def find_wire(
    name: str, *, api: Api | None = None, settings: WireSettings | None = None, models: ModelSettings | None = None
) -> str:
    """What of the settings is part of this model's keys in the journal; needs neither its key nor its package."""
    settings = settings or (WireSettings() if models is None else WireSettings.of(models))
    plugged = _plugged_in(name, None, settings)
    if plugged is not None:
        return wire_of(plugged)
    provider = parse_name(name).provider
    match provider.kind:
        case "http":
            return settings.fingerprint(provider, api or (models.api if models is not None else "chat"))
        case "any-llm" | "transformers" | "vllm":
            return settings.fingerprint(provider)
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class _Key:
    """Where a key is looked for, and what is said when it is not there."""

    models: ModelSettings | None
    required: bool = True
    instead: str = NO_KEY_HINT
    vouched: bool = True

    def __call__(self, name: ModelName, endpoint: str) -> Hidden | None:
        return find_key(name, endpoint, self.models, required=self.required, instead=self.instead, vouched=self.vouched)


def _plugged_in(name: str, base_url: str | None, settings: WireSettings) -> Transport | None:
    plain, address = split_model(name)
    provider, _, model = plain.partition("/")
    if provider in PROVIDERS or not model:
        return None
    plugin = plugins.find("chat", provider)
    if plugin is None:
        return None
    opened: Transport = plugin.load()(model, base_url=address or base_url, settings=settings)
    return opened


def _open_http(
    name: ModelName,
    base_url: str | None,
    api: Api,
    settings: WireSettings,
    key: _Key,
    local_only: bool,
) -> Transport:
    from sightline.models.http import HttpTransport

    endpoint = find_base_url(name, base_url, key.models)
    if local_only:
        refuse_remote(str(name), endpoint)
    return HttpTransport(name, endpoint, api=api, key=key(name, endpoint), settings=settings, local_only=local_only)


def _open_any_llm(
    name: ModelName,
    base_url: str | None,
    api: Api | None,
    settings: WireSettings,
    key: _Key,
    local_only: bool,
) -> Transport:
    from sightline.models.anyllm import AnyLLMTransport

    if api == "responses":
        raise UserError(f"{name} has no {api} API.", "leave it out: only OpenAI-compatible servers have two")
    endpoint = name.provider.name if base_url is None else check_url(base_url).geturl()
    if local_only:
        refuse_remote(str(name), endpoint)
    found = key(name, endpoint)
    if base_url is not None and found is None and name.provider.name not in CUSTOMER_ADDRESSED:
        # The provider's package would send the provider's own key.
        raise UserError(f"{endpoint} is not {name.provider.name}'s own server.", SERVER_KEY_HINT)
    return AnyLLMTransport(name, base_url=base_url, key=found, settings=settings, local_only=local_only)


def _open_here(name: ModelName, settings: WireSettings, local_only: bool) -> Transport:
    opened: Transport = plugins.load("chat", name.provider.name)(name, settings=settings, local_only=local_only)
    return opened
