"""What is special about `builtin/world`: the declaration that Sightline reads."""

from __future__ import annotations

from importlib.util import find_spec

from sightline.models.built_in import BuiltInChat, BuiltInModel, Taxonomy, TextReader
from sightline.models.protocols import Pixels, Transport
from sightline.types import Json
from sightline_world.models.networks import revision_of
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES

NAME = "builtin/world"
REVISION = "4"
"""Of the rules; weights have one of their own."""
_NETWORKS = ("reader", "signs", "relations")


def endpoint() -> str:
    """Replies are kept in the journal under this, so that newer rules and other weights answer anew."""
    return f"builtin:world@{REVISION}-{revision_of(*_NETWORKS)}"


def _open() -> Transport:
    """The model; its networks are opened when the first picture is looked at."""
    from sightline_world.models.chat.model import WorldChat

    return WorldChat()


def world_taxonomy() -> Taxonomy:
    """The words of its world."""
    coloured = (f"{colour} {kind}" for kind in SCENE_KINDS for colour in SCENE_COLOURS)
    return Taxonomy(
        {"place": SCENE_PLACES, "light": SCENE_LIGHTS}, ("has_people",), (*SCENE_KINDS, *coloured), min_tags=0
    )


def _read_signs(pixels: Pixels) -> list[Json]:
    """The words on signs, which are the only words in pictures of the world."""
    from sightline_world.models import scene_reader

    return [{"text": sign.words} for sign in scene_reader.read(pixels).graph.signs if sign.words]


WORLD = BuiltInModel(
    name=NAME,
    embedder="world",
    about="rule-based: networks look at the pixels, rules read the words and plan; it is no language model",
    chat=BuiltInChat(endpoint, _open),
    taxonomy=world_taxonomy,
    words_queries=False,  # It words all queries alike, whatever style is asked for.
    confirms=False,
    text_reader=TextReader("built-in signs", lambda: find_spec("onnxruntime") is not None, _read_signs),
)
