"""Filters over replies: each names its reason, and a runaway trace is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reason.think_sentences import ENGLISH, OTHERS, UNSEEN
from sightline.reason.traces.filters import _has_long_word, filter_reply, find_repetition, is_refusal
from sightline.reason.traces.language import _WORD, _words, language_of, speaks
from sightline.reason.traces.records import TeacherReply, TraceRules
from sightline.reason.traces.teachers import parse_reply
from sightline.types import ChatReply, Failure, Usage

GOOD = "A brown dog stands on the wet sand of a wide beach while two people walk behind it in the evening sun."
THOUGHT = "The animal has four legs and a tail, so it is most likely a dog, and the sand tells me that this is a beach."
WORDS = st.lists(st.from_regex(r"[a-z]{3,9}", fullmatch=True), min_size=8, max_size=60, unique=True)


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{THOUGHT}</think>{GOOD}",
        f"<think>{THOUGHT}</think><answer>{GOOD}</answer>",
        f"◁think▷{THOUGHT}◁/think▷{GOOD}",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|><|begin_of_solution|>{GOOD}<|end_of_solution|>",
        f"[THINK]{THOUGHT}[/THINK]{GOOD}",
        f"{THOUGHT}</think>\n<|begin_of_box|>{GOOD}<|end_of_box|>",
        f"<thinking>{THOUGHT}</thinking>{GOOD}",
        f"<seed:think>{THOUGHT}</seed:think>{GOOD}",
        f'<think time="3 s">{THOUGHT}</think>{GOOD}',
        f"<reasoning>{THOUGHT}</reasoning>\n<answer>{GOOD}</answer>",
        f"<think>{THOUGHT}</think><response>{GOOD}</response>",
        f"<think>{THOUGHT}\n<answer>{GOOD}</answer>",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}<|return|>",
        f"analysis{THOUGHT}assistantfinal{GOOD}",
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{GOOD}<|END_RESPONSE|>",
        f"<thinking><reflection>{THOUGHT}</reflection></thinking><output>{GOOD}</output>",
        f"<unused94>thought\n{THOUGHT}<unused95>{GOOD}",
        f"<s><think>{THOUGHT}</think>{GOOD}</s>",
        f"<think>{THOUGHT}</think>{GOOD}[e~[\n",
        f"<think>{THOUGHT}</think><answer>{GOOD}</answer></s> </s>",
    ],
)
def test_thinking_and_answer_apart_in_every_style(text: str) -> None:
    said = parse_reply(ChatReply(text))
    assert isinstance(said, TeacherReply) and (said.thinking, said.answer) == (THOUGHT, GOOD)


def test_stages_before_the_conclusion_are_thinking() -> None:
    text = f"<SUMMARY>I look.</SUMMARY> <CAPTION>A beach.</CAPTION> <REASONING>{THOUGHT}</REASONING>"
    said = parse_reply(ChatReply(f"{text}\n<CONCLUSION>{GOOD}</CONCLUSION>"))
    assert isinstance(said, TeacherReply) and said.answer == GOOD
    assert said.thinking == f"I look.\n\nA beach.\n\n{THOUGHT}"
    caption = parse_reply(ChatReply(f"<caption>{GOOD}</caption>"))
    assert isinstance(caption, TeacherReply) and GOOD in caption.answer and not caption.thinking


@pytest.mark.parametrize("thinking", ["", THOUGHT])
def test_a_tag_in_the_middle_of_a_line_that_never_ends_is_only_spoken_of(thinking: str) -> None:
    answer = "A sign on the wall says <think> in white letters, and a dog sits below it on the grass."
    said = parse_reply(ChatReply(answer, thinking=thinking))
    assert isinstance(said, TeacherReply) and (said.thinking, said.answer) == (thinking, answer)
    assert filter_reply(said, TraceRules()).reasons == ()


@pytest.mark.parametrize("text", [f"<think>{THOUGHT}", f"<|channel|>analysis<|message|>{THOUGHT}"])
def test_thinking_without_an_answer_is_a_failure_that_was_paid_for(text: str) -> None:
    said = parse_reply(ChatReply(text, usage=Usage(9, output=8), usd=0.5))
    assert isinstance(said, Failure) and said.kind == "empty"
    assert said.usd == 0.5 and said.usage == Usage(9, output=8)


def test_a_good_trace_has_no_reason_against_it() -> None:
    sifted = filter_reply(TeacherReply(THOUGHT, GOOD), TraceRules(needs_thinking=True))
    assert sifted.reasons == () and (sifted.thinking, sifted.answer) == (THOUGHT, GOOD)


@pytest.mark.parametrize(
    ("said", "rules", "reason"),
    [
        (TeacherReply(THOUGHT, "A dog."), TraceRules(), "short"),
        (TeacherReply(THOUGHT, GOOD), TraceRules(most_words=20), "runaway"),
        (TeacherReply(THOUGHT, GOOD, finish="length"), TraceRules(), "truncated"),
        (
            TeacherReply("", "I'm sorry, but I can't help with describing people in this picture today."),
            TraceRules(),
            "refusal",
        ),
        (TeacherReply("", GOOD), TraceRules(needs_thinking=True), "no-thinking"),
        (TeacherReply("这张图片显示了一只棕色的狗站在海滩上，后面有两个人在散步。", GOOD), TraceRules(), "language"),
        (
            TeacherReply(THOUGHT, "Ein brauner Hund steht auf dem nassen Sand und zwei Leute gehen mit ihm."),
            TraceRules(),
            "language",
        ),
        (TeacherReply("", f"<musings>{THOUGHT}</musings> {THOUGHT[:20]}"), TraceRules(), "markup"),
        (TeacherReply("", f"{GOOD}<|tool_sep|>"), TraceRules(), "markup"),
        (TeacherReply("", f"<rationale>{THOUGHT}</rationale>{GOOD}"), TraceRules(), "markup"),
        (TeacherReply("", f"<musing>{THOUGHT}</musing><reply>{GOOD} {GOOD[2:]}</reply>"), TraceRules(), "markup"),
        (TeacherReply("", f"\n<cot>\n{THOUGHT}\n</cot>\n{GOOD}\n{GOOD[2:50]}\n{THOUGHT[4:]}"), TraceRules(), "markup"),
        (
            TeacherReply(THOUGHT, "Pöydällä on punainen muki avoimen kirjan ja silmälasien vieressä, ja koira nukkuu."),
            TraceRules(),
            "language",
        ),
        (TeacherReply(f"{THOUGHT} " + "Wait, let me look at it again. " * 30, GOOD), TraceRules(), "repetition"),
    ],
)
def test_each_reason(said: TeacherReply, rules: TraceRules, reason: str) -> None:
    assert filter_reply(said, rules).reasons == (reason,)


@pytest.mark.parametrize("text", [f"<b>A dog</b> is there. {GOOD}", f"{GOOD} The sign says <s>stop</s> and <b>go</b>."])
def test_a_word_that_is_set_off_is_no_markup(text: str) -> None:
    said = parse_reply(ChatReply(text))
    assert isinstance(said, TeacherReply) and said.answer == text and filter_reply(said, TraceRules()).reasons == ()


def test_a_loop_is_cut_where_it_begins_its_second_round() -> None:
    looping = f"{THOUGHT} " + "But maybe it is a wolf and not a dog. " * 50
    sifted = filter_reply(TeacherReply(looping, GOOD), TraceRules())
    assert sifted.reasons == ("repetition",)
    assert sifted.thinking == f"{THOUGHT} But maybe it is a wolf and not a dog."


def test_a_runaway_is_cut_to_the_limit() -> None:
    sifted = filter_reply(
        TeacherReply(" ".join(f"word{number}" for number in range(500)), GOOD), TraceRules(most_words=100)
    )
    assert "runaway" in sifted.reasons and len(sifted.thinking.split()) == 100


@given(WORDS, WORDS, st.integers(6, 20))
@settings(max_examples=60, deadline=None)
def test_loops_are_found_and_plain_text_is_not_one(before: list[str], round_: list[str], times: int) -> None:
    fresh = [word for word in before if word not in round_]
    text = " ".join(fresh + round_)
    assert find_repetition(text).cut is None and find_repetition(text).repeated == 0.0
    looping = find_repetition(" ".join(fresh + round_ * times))
    assert looping.cut is not None and looping.cut >= len(text)
    assert looping.cut <= len(text) + 1 and looping.repeated > 0.3


@pytest.mark.parametrize("text", ["ha" * 200, "." * 90 + "x" * 90, "哈" * 60])
def test_a_stutter_is_a_loop(text: str) -> None:
    assert find_repetition(f"It laughs: {text}").cut is not None


@given(st.lists(st.sampled_from(["x", "xy" * 19, "z" * 40, "", "w" * 41]), max_size=12).map(" ".join))
@settings(max_examples=100, deadline=None)
def test_only_a_long_word_can_stutter(text: str) -> None:
    assert _has_long_word(text) == any(len(word) >= 40 for word in text.split(" "))


@given(st.text(st.sampled_from("aZ9_-' \n.é狗ı"), max_size=40))
@settings(max_examples=100, deadline=None)
def test_words_are_runs_of_letters(text: str) -> None:
    assert _words(text) == _WORD.findall(text.lower())


@pytest.mark.parametrize("text", ["very, very, very good", "a rose is a rose is a rose", "1 2 3 1 2 3"])
def test_emphasis_is_no_loop(text: str) -> None:
    assert find_repetition(text).cut is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GOOD, "en"),
        ("这张图片显示了一只棕色的狗站在海滩上。", "zh"),
        ("この写真には茶色の犬が浜辺に立っています。", "ja"),
        ("На фотографии коричневая собака стоит на мокром песке.", "ru"),
        ("Le chien brun est sur le sable et les gens sont dans la mer avec une balle.", "fr"),
        ("El perro está en la playa con una pelota y los niños son felices en el agua.", "es"),
        ("dog beach", None),
        ("", None),
    ],
)
def test_language(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I cannot describe this picture.",
        "As an AI, I have no eyes.",
        "Unfortunately, I am unable to view the image.",
        "I\u2019m not able to identify people.",
        "抱歉，我无法描述这张图片。",
        "I apologize, but I am not able to analyze images at this time.",
        "I do not feel comfortable describing the people in this image.",
        "As a language model I have no ability to see images directly.",
        "I have no way to look at what you sent.",
        "I don't have access to the picture.",
        "I'm sorry. I can't do it.",
        "I cannot identify the person in this picture, but I can describe the clothes if you like.",
        "It looks like no image was provided.",
        "Please upload the image so that I can describe it.",
        "I must decline to answer this question.",
        "I cannot see images, but if you describe it I can help.",
        "Lo siento, pero no puedo describir esta imagen.",
        "I'm afraid I can't describe the people in this photo.",
        "I'm just an AI and cannot see the picture you sent.",
        "Sorry, there's no image attached to your message.",
        "This image contains content I am not able to describe in detail.",
        "It's against my guidelines to describe real people in pictures.",
        "The image cannot be displayed. Please try again later.",
    ],
)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "I can see a dog.",
        "A sorry-looking dog cannot reach the ball.",
        "I see no cat.",
        "I can't see the far end of the road, but there is a red mug on the table and a dog.",
        "I cannot see any people in this picture. The street is empty and wet.",
        "I can't help noticing the red car in the middle of the street.",
        "I can't identify the breed of the dog with certainty. It is brown and stands on sand.",
        "I cannot identify the person, but the picture shows a man in a blue coat beside a red car.",
        "Unfortunately, the picture is blurry, but a dog and a cat are visible on the sofa.",
        "As an assistant referee raises the flag, the players cannot believe it.",
        "There is no picture on the wall, only a clock and a shelf.",
        "I couldn't find any text in the picture; a red mug stands on a table.",
        "As an AI-themed poster, it shows a robot that is not holding anything.",
        "I'm afraid the dog has run away, as its leash lies empty on the grass.",
        "It's against the rules to park here, says the sign beside the red car.",
        "The image contains content of many kinds: a dog, a cat and a red car.",
        "The picture cannot be displayed more prominently than on this wall.",
    ],
)
def test_no_refusals(text: str) -> None:
    assert not is_refusal(text)


def test_no_other_language_passes_for_english() -> None:
    everything = [(code, text) for some in (OTHERS, UNSEEN) for code, texts in some.items() for text in texts]
    kept = [(code, text) for code, text in everything if speaks("en", text)]
    assert kept == []
    found = [language_of(text) == code for code, texts in OTHERS.items() for text in texts]
    assert sum(found) >= len(found) - 1


@pytest.mark.parametrize("text", ENGLISH)
def test_short_english_is_english(text: str) -> None:
    assert speaks("en", text)


def test_a_longer_text_needs_some_words_of_the_language() -> None:
    assert speaks("en", "lorem ipsum dolor sit amet consectetur")
    assert not speaks(
        "en", "lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt labore"
    )
    assert not speaks("de", GOOD) and speaks("any-other", "lorem ipsum " * 20)
