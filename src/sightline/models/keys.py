"""Which key goes where: a provider's only to the provider, others only where the user says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from sightline.config.section import Hidden
from sightline.config.services import ModelSettings
from sightline.errors import UserError
from sightline.models.names import ModelName, leaves_machine

ANYWHERE = "SIGHTLINE_API_KEY"
"""The key of a server that the user names, and that is no provider's own."""
ADDRESSED = frozenset({"azureopenai", "bedrock", "vertexai"})
"""Providers that have another address for each customer."""
INSTEAD = "use --model ollama/llava (free, on this machine, weaker)"
"""What is offered to somebody who has no key."""
WHERE_KEYS_GO = (
    f"give the key of that server in {ANYWHERE}, or name its variable in sightline.toml, under [models.hosts]"
)


def find_key(
    name: ModelName,
    endpoint: str,
    settings: ModelSettings | None,
    environment: Mapping[str, str] | None = None,
    *,
    required: bool = True,
    instead: str = INSTEAD,
    vouched: bool = True,
) -> Hidden | None:
    """The key to be sent to an endpoint, from the configuration or the environment; None: none is sent.

    A provider's key goes to the provider's own address and to those of the user's configuration. That of a server of
    one's own (vllm/…) goes where the user says, and on this machine, but not where a file says (not `vouched`): such a
    server is named under `[models.hosts]`. Not `required`: nothing will be sent, so it may be missing.
    """
    environment = os.environ if environment is None else environment
    named = _named(endpoint, settings, environment, required)
    if named is not None:
        return named
    home = is_home(name, endpoint, settings, environment)
    own_server = not name.provider.needs_key and (vouched or not leaves_machine(endpoint))
    if home or own_server:
        found = _providers_key(name, settings, environment)
        if found is not None:
            return found
    if required and name.provider.needs_key and endpoint in (name.provider.base_url, name.provider.name):
        raise missing_key(name, " or ".join(name.provider.keys), instead)
    if home and name.provider.needs_key:
        return None
    return _anybodys_key(settings, environment) if vouched else None


def is_home(
    name: ModelName, endpoint: str, settings: ModelSettings | None, environment: Mapping[str, str] | None = None
) -> bool:
    """Is this the provider's own address, or one that the user configured for it?"""
    environment = os.environ if environment is None else environment
    if "://" not in endpoint:
        return True
    homes = [name.provider.base_url]
    if name.provider.name == "openai":
        homes += [settings.base_url if settings else None, environment.get("OPENAI_BASE_URL")]
    return _origin(endpoint) in {_origin(home) for home in homes if home}


def about_key(name: ModelName, endpoint: str, *, was_sent: bool) -> str:
    """What to do about a key that a server refuses."""
    variables = " or ".join(name.provider.keys) or "the key"
    if was_sent:
        return f"check {variables}" if is_home(name, endpoint, None) else "check its key"
    if name.provider.needs_key and not is_home(name, endpoint, None):
        home = _host(name.provider.base_url)
        return f"no key was sent, for {variables} goes only to {home} and to your configured base_url: {WHERE_KEYS_GO}"
    return f"no key was sent: set {variables}"


def missing_key(name: ModelName, variables: str, instead: str = INSTEAD) -> UserError:
    """What is said where a provider's key is not to be found."""
    if name.provider.kind == "http":
        instead += ", or --base-url http://localhost:8000/v1 for your own server"
    return UserError(f"{variables} is not set, so {name} can't be asked.", f"set it, or {instead}")


def _named(
    endpoint: str, settings: ModelSettings | None, environment: Mapping[str, str], required: bool
) -> Hidden | None:
    """The key of a host that the configuration names."""
    hosts = {} if settings is None else settings.hosts
    parts = urlsplit(endpoint)
    variable = hosts.get(parts.netloc) or hosts.get(parts.hostname or "")
    if variable is None:
        return None
    if environment.get(variable):
        return Hidden(environment[variable])
    if required:
        raise UserError(
            f"the key of {parts.netloc} is to be in {variable}, which is not set.",
            "set it, or change [models.hosts] in sightline.toml",
        )
    return None


def _providers_key(name: ModelName, settings: ModelSettings | None, environment: Mapping[str, str]) -> Hidden | None:
    configured = getattr(settings, f"{name.provider.name}_api_key", None)
    if isinstance(configured, Hidden):
        return configured
    return next((Hidden(environment[variable]) for variable in name.provider.keys if environment.get(variable)), None)


def _anybodys_key(settings: ModelSettings | None, environment: Mapping[str, str]) -> Hidden | None:
    if settings is not None and settings.server_api_key is not None:
        return settings.server_api_key
    return Hidden(environment[ANYWHERE]) if environment.get(ANYWHERE) else None


def _origin(address: str) -> tuple[str, str, int | None]:
    """Who is really asked: a key for HTTPS is not sent without it."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname or "", parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _host(address: str | None) -> str:
    return urlsplit(address or "").hostname or "its provider"
