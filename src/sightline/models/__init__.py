"""Who answers: chat models and embedders behind two protocols."""

from sightline.models.names import leaves_machine, parse_name
from sightline.models.opening import open_transport
from sightline.models.protocols import ChatModel, Embedder, Outcome, Pixels, Transport, Vectors
from sightline.models.scripted import ScriptedModel
from sightline.models.settings import WireSettings
from sightline.models.structured import Structured, ask_structured
from sightline.models.thinking import Thinking, split_thinking

__all__ = [
    "ChatModel",
    "Embedder",
    "Outcome",
    "Pixels",
    "ScriptedModel",
    "Structured",
    "Thinking",
    "Transport",
    "Vectors",
    "WireSettings",
    "ask_structured",
    "leaves_machine",
    "open_transport",
    "parse_name",
    "split_thinking",
]
