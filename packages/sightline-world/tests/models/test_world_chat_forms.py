"""Instructions about form are no part of the question."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sightline.runs.runner import run
from sightline.types import ChatReply, ChatRequest, ImagePart, Message, PictureRef, Text
from sightline_world.models.chat.answers import without_form
from sightline_world.models.chat.model import WorldChat
from sightline_world.tasks.benchmark import world_benchmark
from world_chat_life import Album, scene, thing

QUESTIONS = (
    "Please read out what is written on the sign.",
    "Count the dogs here. What number do you get?",
    "Which words are on the sign of shop 2.5?",
)
FORMS = (
    "End with the line\nThe final answer is: ANSWER.\nKeep the answer short.",
    "End by calling Finish, or with the line\nThe final answer is: ANSWER.\nKeep the answer short: a name, a number.",
    "End with the line\nThe final answer is: X.\nX is the key of one option.",
    "请以下面这一行结束：\nThe final answer is: 答案。\n答案要简短，并使用提问的语言。",
    "Answer:",
    "Keep it short.",
    "Answer with one word.",
    "Answer the question using a single word or phrase.",
    "Please answer briefly.",
    "Give only the final answer.",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_form_is_taken_off(question: str, form: str) -> None:
    assert without_form(f"{question}\n\n{form}") == question
    assert without_form(f"{form}\n\n{question}") == question


@pytest.mark.parametrize(
    "text",
    [
        "Answer yes or no: is there a dog?",
        "There is a dog in the picture. Answer yes or no.",
        "Answer with the colour of the dog.",
        "Describe the picture. Keep it short.",
        "Keep it short.",
        "",
    ],
)
def test_content_stays(text: str) -> None:
    assert without_form(text) == text


def test_a_request_without_a_question_mark_is_answered_in_any_form() -> None:
    album = Album([scene("harbour", "day", [thing("boat", "white")], signs=["WOSFORD"])])
    model = album.model()
    for form in ("", *FORMS):
        content = (album.part(0), QUESTIONS[0], f"\n\n{form}")
        got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", content),))))
        assert isinstance(got, ChatReply) and got.text == "WOSFORD", (form, got)


def test_the_chat_system_gets_the_answers_that_a_plain_question_gets(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "bench"
    made = world_benchmark(folder, 3, pictures=80, count=60, kinds=("answer",), difficulty=0.0, size=(320, 240))
    details = ("read a sign", "count", "headgear", "in the hand")
    asked = {(task.labels["template"][0], task.labels["phrasing"][0]) for task in made.tasks.values()}
    assert asked >= {(template, family) for template in details for family in ("training", "held-out")}
    done = run(folder, "chat:model=builtin/world", out=tmp_path / "run", workspace=tmp_path / "workspace")
    model = WorldChat()
    for attempt in done.run.attempts:
        picture, question = made.tasks[attempt.task_id].prompt
        assert isinstance(picture, PictureRef) and isinstance(question, str) and isinstance(attempt.prediction, Text)
        part = ImagePart(str(folder / made.corpus.pictures[picture.id].uri))
        direct = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", (part, question)),))))
        assert isinstance(direct, ChatReply)
        assert attempt.prediction.text.rstrip(".") == direct.text.rstrip("."), question
