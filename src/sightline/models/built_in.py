"""Built-in models (`builtin/…`): each declares what is special about it, as a plug-in of the group `models`.

They run in this process, on this machine, with no key, and cost nothing. Nothing else in Sightline knows one by name:
what a stage does differently for such a model, it reads from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sightline import plugins
from sightline.config import Config
from sightline.errors import UserError
from sightline.models.protocols import Pixels, Transport
from sightline.models.providers import ModelName
from sightline.models.wire_settings import WireSettings
from sightline.types import Json

_PROVIDER = "builtin/"


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Facets with their values, flags, and words to choose tags from."""

    facets: dict[str, tuple[str, ...]]
    flags: tuple[str, ...]
    vocabulary: tuple[str, ...]
    min_tags: int | None = None
    "Fewest tags of a picture; by the size of the vocabulary when not set."

    def settings(self, config: Config) -> Config:
        """The configuration with it; fewer tags are asked for where the vocabulary is small."""
        least, few = config.annotate.min_tags, len(self.vocabulary)
        if few and "min_tags" not in config.annotate.model_fields_set:
            least = min(least, max(1, few // 8)) if self.min_tags is None else self.min_tags
        update: dict[str, Any] = {"taxonomy": self.facets, "flags": self.flags, "vocabulary": self.vocabulary}
        update |= {"min_tags": least}
        return config.model_copy(update={"annotate": config.annotate.model_copy(update=update)})


@dataclass(frozen=True, slots=True)
class BuiltInChat:
    """How a built-in model is asked; replies are kept in the journal under its `endpoint`."""

    endpoint: Callable[[], str]
    open: Callable[[], Transport]


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads words in pictures where the extra `ocr` is not installed; `is_ready` says whether its packages are."""

    name: str
    is_ready: Callable[[], bool]
    read: Callable[[Pixels], list[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInModel:
    """What is special about a built-in model; its `name` begins with `builtin/`, its plug-in's name is the rest."""

    name: str
    embedder: str
    "The embedder that sees pictures as the model does."
    about: str = ""
    "What it is, where that is not plain from the word model: said where its answers are shown."
    chat: BuiltInChat | None = None
    "None where the model can't be asked in words."
    taxonomy: Callable[[], Taxonomy] | None = None
    "What it can tell of any picture, where that is known beforehand; it is then asked for no proposal."
    words_queries: bool = False
    "Does it word queries and requests in the style that is asked for? Templates do where it does not."
    confirms: bool = False
    "Can it find its own mistakes when it is asked again? What sees the same twice confirms nothing."
    pictures_at_once: int = 1
    "How many pictures it looks at in one call, at most."
    text_reader: TextReader | None = None


PHOTOS = BuiltInModel(name="builtin/photos", embedder="photos")
"""The networks behind the embedder `photos`, which see real photographs and have no words of their own."""


def find_built_in(name: str | None) -> BuiltInModel | None:
    """The declaration of a model; None for all others, and for one whose package is not installed."""
    if name is None or not name.startswith(_PROVIDER):
        return None
    plugin = plugins.find("models", name.removeprefix(_PROVIDER))
    declared: BuiltInModel | None = None if plugin is None else plugin.load(BuiltInModel)
    return declared


def built_in_models() -> list[BuiltInModel]:
    """All that are installed."""
    return list(plugins.load_all("models", BuiltInModel).values())


def chat_of(name: ModelName) -> BuiltInChat:
    """How a built-in chat model is asked; one that is none, or not installed, is refused."""
    declared = find_built_in(str(name))
    if declared is not None and declared.chat is not None:
        return declared.chat
    if declared is None and plugins.is_elsewhere("models", name.model):
        raise plugins.unknown("models", name.model, "")
    if declared is not None:
        raise UserError(
            f"{name} is not a chat model: it only annotates and judges pictures.",
            "Use one that can chat, such as --model openai/gpt-5-mini or --model ollama/llava.",
        )
    known = " or ".join(f"--model {each.name}" for each in built_in_models() if each.chat is not None)
    fix = f"use {known}" if known else "use a model of another provider"
    raise UserError(f'There is no built-in chat model "{name.model}".', fix)


def open_built_in(name: ModelName, *, settings: WireSettings, local_only: bool) -> Transport:
    """What `builtin/…` names."""
    return chat_of(name).open()


def find_text_reader() -> TextReader | None:
    """The reader of words that an installed model brings and that can be used here."""
    readers = (model.text_reader for model in built_in_models())
    return next((reader for reader in readers if reader is not None and reader.is_ready()), None)
