"""`provider/model` and `provider/model@URL`: which provider that is, where it is called, and which API key goes there.

A provider's key goes only to the provider, others only where the user says.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from sightline.config.section import Hidden
from sightline.config.settings import ModelSettings
from sightline.errors import UserError, nearest
from sightline.types.chat import split_model

Kind: TypeAlias = Literal["http", "any-llm", "transformers", "vllm", "builtin", "scripted"]
MaxTokens: TypeAlias = Literal["max_completion_tokens", "max_tokens"]
_SECRET = re.compile(r"key|token|secret|passw|pwd|auth|credential|^(sig|signature|code)$", re.IGNORECASE)
"""Names in the query of an address whose values are not for journals, logs and messages."""
SERVER_KEY = "SIGHTLINE_API_KEY"
"""The key of a server that the user names, and that is not a provider's own."""
CUSTOMER_ADDRESSED = frozenset({"azureopenai", "bedrock", "vertexai"})
"""Providers that have another address for each customer."""
NO_KEY_HINT = "use --model ollama/llava (free, on this machine, weaker)"
"""What is offered to somebody who has no key."""
SERVER_KEY_HINT = (
    f"give the key of that server in {SERVER_KEY}, or name its variable in sightline.toml, under [models.hosts]"
)


@dataclass(frozen=True, slots=True)
class PictureLimit:
    """Longest side in pixels, most bytes before base64, and the formats that may go out as they are.

    A picture over it is made smaller before it is sent. `low_side` is the longest side of a picture asked for with
    `detail="low"`; None means the same as any other.
    """

    side: int = 2048
    bytes: int = 15_000_000
    formats: tuple[str, ...] = ("JPEG", "PNG", "WEBP", "GIF")
    low_side: int | None = None

    def side_for(self, detail: str) -> int:
        """The longest side of a picture of this detail."""
        return self.side if detail != "low" or self.low_side is None else min(self.side, self.low_side)


ANYBODY = PictureLimit(bytes=3_750_000, formats=("JPEG", "PNG"))
"""What all providers take; for one of whom nothing else is known."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to ask a model; `keys` are environment variables, of which the first that is set counts."""

    name: str
    kind: Kind
    base_url: str | None = None
    keys: tuple[str, ...] = ()
    needs_key: bool = False
    max_tokens: MaxTokens = "max_tokens"
    pictures: PictureLimit = ANYBODY


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name taken apart; `str()` puts it together again, without the address."""

    provider: Provider
    model: str
    address: str | None = None
    "Where it is asked, if the name says so; this comes before `--base-url`."

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.model}"


def _provider(name: str, row: dict[str, Any]) -> Provider:
    limit = row.pop("pictures", None)
    pictures = ANYBODY if limit is None else PictureLimit(**{key: _fixed(value) for key, value in limit.items()})
    return Provider(name, pictures=pictures, **{key: _fixed(value) for key, value in row.items()})


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


PROVIDERS: Mapping[str, Provider] = {
    name: _provider(name, row)
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def limit_of(provider: str) -> PictureLimit:
    """What this provider takes of a picture."""
    return PROVIDERS[provider].pictures if provider in PROVIDERS else ANYBODY


def parse_name(name: str) -> ModelName:
    """`provider/model` or `provider/model@URL` → its parts; the model's own name may have slashes in it."""
    plain, address = split_model(name)
    provider, slash, model = plain.partition("/")
    if not slash or not model or not provider:
        raise UserError(
            f'"{name}" is not a model name: it must be provider/model, or provider/model@URL.',
            "for example openai/gpt-5-mini, or vllm/qwen3-vl@http://localhost:8000/v1; "
            f"providers: {', '.join(PROVIDERS)}",
        )
    known = PROVIDERS.get(provider)
    if known is None:
        near = nearest(provider.lower(), PROVIDERS)
        hint = f'Did you mean "{near}/{model}"? ' if near else ""
        raise UserError(f'Unknown provider "{provider}" in "{name}".', f"{hint}Providers: {', '.join(PROVIDERS)}")
    return ModelName(known, model, address)


def wire_model(model: str, provider: str) -> str:
    """The model's name as its own server knows it: without our provider in front."""
    return model.removeprefix(f"{provider}/")


def find_base_url(name: ModelName, given: str | None, settings: ModelSettings | None) -> str:
    """Where an HTTP model is asked: its name's address, what was given, configured (openai), its own address."""
    given = name.address or given
    if given is None and name.provider.name == "openai":
        given = (settings.base_url if settings else None) or os.environ.get("OPENAI_BASE_URL")
    return check_url(given or name.provider.base_url or "").geturl().rstrip("/")


def check_url(url: str) -> SplitResult:
    """The address, taken apart, if a model can be asked there."""
    try:
        parts = urlsplit(url.strip())
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong:
        raise UserError(
            f'"{url}" is not an address of a model server.', "give it as http://host:port/v1 or https://host/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise UserError(
            f"The address of {parts.hostname} holds a name or a password.",
            "remove it, and give the key in the environment",
        )
    secret = next((name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if _SECRET.search(name)), None)
    if secret is not None:
        raise UserError(
            f'The address of {parts.hostname} holds a secret: "{secret}=…".',
            'remove it, and give the key in the environment, or as a header: [models.headers] "api-key" = "…"',
        )
    return parts


def leaves_machine(endpoint: str) -> bool:
    """Would a call there leave this machine? Only loopback addresses and models in this process do not."""
    if "://" not in endpoint:
        kind, _, _ = endpoint.partition(":")
        return kind not in ("transformers", "vllm-local", "builtin", "scripted")
    from sightline.io.web_address import is_loopback  # Costs the import of yarl, which most commands do without.

    return not is_loopback(endpoint)


def models_here() -> str:
    """What is offered to somebody who wants no call to leave this machine."""
    from sightline.models.built_in import built_in_models  # Which reads names itself.

    built_in = [model.name for model in built_in_models() if model.chat is not None]
    names = ("ollama/…", "vllm/…", "llamacpp/…", "transformers/…", *built_in)
    return f"use a model on this machine ({', '.join(names)})"


def refuse_remote(name: str, endpoint: str, instead: str | None = None) -> None:
    """Under `--local-only` an endpoint elsewhere is the user's mistake."""
    if leaves_machine(endpoint):
        where = endpoint if "://" in endpoint else "its provider's own servers"
        raise UserError(
            f"{name} is asked at {where}, and --local-only allows no call that leaves this machine.",
            f"{instead or models_here()}, or leave --local-only out",
        )


def find_key(
    name: ModelName,
    endpoint: str,
    settings: ModelSettings | None,
    environment: Mapping[str, str] | None = None,
    *,
    required: bool = True,
    instead: str = NO_KEY_HINT,
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
        home = urlsplit(name.provider.base_url or "").hostname or "its provider"
        return (
            f"no key was sent, for {variables} goes only to {home} and to your configured base_url: {SERVER_KEY_HINT}"
        )
    return f"no key was sent: set {variables}"


def missing_key(name: ModelName, variables: str, instead: str = NO_KEY_HINT) -> UserError:
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
    return Hidden(environment[SERVER_KEY]) if environment.get(SERVER_KEY) else None


def _origin(address: str) -> tuple[str, str, int | None]:
    """Who is really asked: a key for HTTPS is not sent without it."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname or "", parts.port or {"https": 443, "http": 80}.get(parts.scheme)
