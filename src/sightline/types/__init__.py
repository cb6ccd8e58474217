"""The nouns of Sightline: frozen, typed, with no logic beyond a property."""

from sightline.types.annotation import Annotation
from sightline.types.benchmark import Benchmark, Candidate, Judgment, Review, Tier
from sightline.types.chat import ChatReply, ChatRequest, ImagePart, Message, Partial, Role, ToolCall, ToolSpec, Usage
from sightline.types.corpus import Corpus, Group, GroupKind
from sightline.types.estimate import Estimate
from sightline.types.picture import Box, Json, Picture, PictureRef, Rights
from sightline.types.run import Attempt, LedgerEntry, Run
from sightline.types.search import Fusion, Method, SearchQuery
from sightline.types.task import Option, Part, Scope, Task, TaskKind
from sightline.types.truth import (
    Answer,
    Choice,
    Failure,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Step,
    StepKind,
    Text,
    Trace,
    Traces,
    Truth,
)

__all__ = [
    "Annotation",
    "Answer",
    "Attempt",
    "Benchmark",
    "Box",
    "Candidate",
    "ChatReply",
    "ChatRequest",
    "Choice",
    "Corpus",
    "Estimate",
    "Failure",
    "Fusion",
    "Group",
    "GroupKind",
    "ImagePart",
    "Json",
    "Judgment",
    "LedgerEntry",
    "Message",
    "Method",
    "Option",
    "Part",
    "Partial",
    "Picture",
    "PictureRef",
    "PictureSet",
    "Prediction",
    "Ranking",
    "Relevance",
    "Review",
    "Rights",
    "Role",
    "Run",
    "Scope",
    "SearchQuery",
    "Step",
    "StepKind",
    "Task",
    "TaskKind",
    "Text",
    "Tier",
    "ToolCall",
    "ToolSpec",
    "Trace",
    "Traces",
    "Truth",
    "Usage",
]
