"""Every schema that a model is sent, and every string with a class's name in it that is hashed, kept or shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import orjson

from agent_tools import StubWeb
from sightline.agent import system_vote
from sightline.agent.finish import finish_spec
from sightline.agent.memory import COMPRESS_TOOL
from sightline.agent.tools.base import Materials
from sightline.agent.tools.registry import known_tools
from sightline.agent.web import WebPage
from sightline.authoring import annotate_requests as annotate
from sightline.authoring import judge_requests as judge
from sightline.authoring import query, taxonomy
from sightline.authoring.project_files import SeededQuery
from sightline.calls.request_key import request_key
from sightline.config import Config
from sightline.mining import associations, checks, clue_extraction, fact_chains
from sightline.mining import model_drafts as mine_writing
from sightline.models.photos.networks import revision_of
from sightline.models.structured_output import ReplySchema
from sightline.reason.difficulty import judge as judging
from sightline.reason.questions import TaskQuestion
from sightline.reason.steps import annotation
from sightline.reason.traces import grounding, records
from sightline.retrieval import rerank
from sightline.retrieval.columns.files import FILE_NAME, save_columns
from sightline.retrieval.columns.kinds import (
    FlagColumn,
    LabelColumn,
    NumberColumn,
    PictureColumns,
    TextColumn,
    TimeColumn,
    Vocabulary,
)
from sightline.retrieval.index.build import Parts
from sightline.types import (
    Answer,
    Box,
    ChatRequest,
    Choice,
    ImagePart,
    Message,
    Option,
    Picture,
    PictureRef,
    PictureSet,
    Relevance,
    Step,
    Task,
    ToolCall,
    ToolSpec,
    Trace,
    Traces,
)

Sent: TypeAlias = dict[str, dict[str, Any]]
MODEL = "openai/gpt"
PICTURES = [Picture(name, f"/pictures/{name}") for name in ("a.jpg", "b.jpg", "c.jpg")]
CHOOSE = Task("t1", "choose", ("Which?", PictureRef("a.jpg")), (Option("A", ("red",)), Option("B", ("blue",))))
ASKED = TaskQuestion(CHOOSE, Choice("A"), {picture.id: picture for picture in PICTURES})
STEP = Step("caption", "a boat", (PictureRef("a.jpg", Box(0.0, 0.25, 0.5, 1.0)),))
REQUEST = ChatRequest(
    MODEL,
    (
        Message("system", ("Look.",)),
        Message("user", ("What is it?", ImagePart("/pictures/a.jpg", b"\0", "low"))),
        Message("assistant", ("",), (ToolCall("1", "Zoom", "{}"),)),
        Message("tool", ("A boat.",), tool_call_id="1"),
    ),
    tools=(ToolSpec("Zoom", "magnify", {"type": "object"}),),
    schema={"type": "object"},
    extra={"top_k": 1},
)


def sent_schemas() -> Sent:
    """Name and schema of each structured reply that a model is asked for, by what it is asked for."""
    config = Config()
    typed: dict[str, ReplySchema[Any]] = {
        "verify a vote": system_vote.wanted_grades(),
        "rerank": rerank.wanted_grades(),
        "propose a taxonomy": taxonomy.wanted_proposal(),
    }
    requests = {
        "think: verify claims": grounding.request_for(
            MODEL,
            records.TraceQuestion("q", records.TracePicture("a.jpg", "/pictures/a.jpg"), "Describe."),
            ["It is red."],
        ),
        "steps": annotation.request_for(ASKED, annotation.StepSettings(MODEL)),
        "difficulty: judge": judging.request_for(ASKED, MODEL),
        "annotate": annotate.AnnotationQuestions(MODEL, config).request(PICTURES[0]),
        "query": query.request(query.QuerySpec(SeededQuery("q", ("a.jpg",)), "keyword", "easy", ()), MODEL, config),
        "judge": judge.JudgeQuestions(MODEL, config).request("a boat", PICTURES),
        "mine: clues of a picture": clue_extraction.ask_for(PICTURES[0], MODEL).request,
        "mine: the same things": associations.typical(PICTURES, 1, MODEL),
        "mine: requests": mine_writing.typical(MODEL),
        "mine: second look": checks.typical(PICTURES, MODEL),
        "mine: facts of a page": fact_chains.facts_request(WebPage("https://a.test/", "A", "A page."), MODEL),
    }
    found: dict[str, Any] = {purpose: {"name": one.name, "schema": one.schema} for purpose, one in typed.items()}
    for purpose, request in requests.items():
        assert isinstance(request, ChatRequest)
        found[purpose] = {"name": request.schema_name, "schema": request.schema}
    return found


def sent_tools() -> Sent:
    """Each tool of the agent and of the MCP server as a model is told of it, by its name."""
    searcher: Any = SimpleNamespace(columns=SimpleNamespace(by_name={"people": None}))
    materials = Materials({"a.jpg": Picture("a.jpg", "a.jpg", extra={"people": ["Ana"]})}, searcher, StubWeb({}))
    made = {name: kind.make(materials) for name, kind in known_tools().items()}
    specs = {name: tool.spec for name, tool in made.items() if tool is not None}
    specs["Compress"] = COMPRESS_TOOL
    for kind in ("rank", "select", "choose", "answer"):
        options = CHOOSE.options if kind == "choose" else ()
        specs[f"Finish: {kind}"] = finish_spec(Task("t", kind, ("?",), options))
    return {
        purpose: {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
        for purpose, spec in specs.items()
    }


def hashed(folder: Path) -> dict[str, str]:
    """What is hashed, or kept on disk."""
    config = Config()
    truths = (
        Relevance({"a.jpg": 2}),
        PictureSet(("a.jpg",)),
        Answer("4", ("four",), {"de": "vier"}, "m", 0.1, (STEP,)),
        Choice("A", steps=(STEP,)),
        Traces((Trace("hm", "a boat", MODEL),)),
    )
    return {
        "journal: key": request_key(REQUEST, "https://a.test", "wire").hex(),
        "make: batch job": repr(REQUEST),
        "make publish: fingerprint": "\n".join(map(repr, truths)),
        "scan: stamp of groups": f"{config.duplicates!r} {config.events!r}",
        "run: name of an index": repr(Parts()),
        "builtin/photos: revision without a head": revision_of(False),
        "index: kinds of columns": " ".join(_column_kinds(folder)),
    }


def _column_kinds(folder: Path) -> Iterator[str]:
    numbers, places, words = np.zeros(1), np.zeros(1, np.int32), Vocabulary(["a"])
    columns: dict[str, Any] = {
        "numbers": NumberColumn(numbers),
        "times": TimeColumn(numbers, numbers),
        "flags": FlagColumn(np.zeros(1, np.int8)),
        "texts": TextColumn(places, words),
        "labels": LabelColumn(1, places, places, words),
    }
    save_columns(PictureColumns(np.ones(1, np.bool_), columns), folder)
    content = (folder / FILE_NAME).read_bytes()
    length = int.from_bytes(content[8:16], "little")
    header: Mapping[str, Any] = orjson.loads(content[24 : 24 + length])
    for column in header["columns"]:
        yield f"{column['name']}={column['kind']}"
    yield hashlib.sha256(content).hexdigest()
