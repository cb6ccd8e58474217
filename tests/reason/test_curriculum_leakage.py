"""What tells the answer, sentence by sentence, and what only speaks of it; whole curricula are in the proof's tests."""

from __future__ import annotations

import pytest

from sightline.reason.curriculum.leakage import is_marked, leaking_sentence
from sightline.reason.curriculum.lessons import Lesson
from sightline.types import Option

THINGS = ("the red cup", "the blue lamp", "the green book", "the black box")
NUMBERS = ("3", "4", "5", "6")
SAME = ("the red cup", "the red cup", "a lamp")
NO = ("Yes", "No")
HELD = ("red cup", "cup", "red")
CHINESE = ("蓝球", "红球", "绿球")
GERMAN = ("der blaue Ball", "der rote Ball")
KOREAN = ("파란 공", "빨간 공")


def told(sentence: str, texts: tuple[str, ...]) -> str | None:
    """Of a question whose second option is right."""
    options = tuple(Option(key, (text,)) for key, text in zip("ABCD", texts, strict=False))
    return leaking_sentence(f"There is a table. {sentence}", Lesson("t", "", "", (), options, "B", None, {}))


@pytest.mark.parametrize(
    ("sentence", "texts"),
    [
        ("It's B.", THINGS),
        ("It’s B.", THINGS),
        ("Answer B", THINGS),
        ("Only B can be right.", THINGS),
        ("The correct one is B.", THINGS),
        ("The correct one is the blue lamp.", THINGS),
        ("It can only be the blue lamp.", THINGS),
        ("So it is the blue lamp.", THINGS),
        ("Only the blue lamp can be right.", THINGS),
        ("The blue lamp is correct.", THINGS),
        ("The blue lamp is the right one.", THINGS),
        ("I'd say B.", THINGS),
        ("None of A, C and D fits.", THINGS),
        ("The answer isn't A, C or D.", THINGS),
        ("It can't be A, C or D.", THINGS),
        ("Everything but B can be excluded.", THINGS),
        ("Everything except the blue lamp can be ruled out.", THINGS),
        ("Ground truth: B", THINGS),
        ("Ground truth: the blue lamp.", THINGS),
        ("The second option is the right one.", THINGS),
        ("Option two is correct.", THINGS),
        ("The answer is the second option.", THINGS),
        ("The first option, the third option and the last option are wrong.", THINGS),
        ("The answer is 4.", NUMBERS),
        ("The answer is 4, as one sees.", NUMBERS),
        ("4 is correct.", NUMBERS),
        ("So 4 is correct.", NUMBERS),
        ("4 is the answer.", NUMBERS),
        ("So it is 4.", NUMBERS),
        ("It must be 4.", NUMBERS),
        ("The answer is no.", NO),
        ("The answer is the red cup.", SAME),
        ("The answer is cup.", HELD),
        ("The cup is the right answer.", HELD),
        ("Only B fits.", THINGS),
        ("Only the blue lamp fits.", THINGS),
        ("B is the winner, so pick it.", THINGS),
        ("The blue lamp is the largest, so pick it.", THINGS),
        ("So, the blue lamp.", THINGS),
        ("So, 4.", NUMBERS),
        ("It is therefore the blue lamp.", THINGS),
        ("Therefore the blue lamp is the largest.", THINGS),
        ("So the blue lamp really is the largest.", THINGS),
        ("Hence the largest is the blue lamp.", THINGS),
        ("The blue lamp is therefore the largest.", THINGS),
        ("The blue lamp is wider than the red cup, so the blue lamp is the largest.", THINGS),
        ("Therefore B is the largest.", THINGS),
        ("Die Antwort ist B.", THINGS),
        ("Die richtige Antwort lautet: B", THINGS),
        ("B ist richtig.", THINGS),
        ("La réponse est B.", THINGS),
        ("Donc, B.", THINGS),
        ("La respuesta es B.", THINGS),
        ("La respuesta correcta es la B.", THINGS),
        ("Se ve que la respuesta es B.", THINGS),
        ("A resposta é a B.", THINGS),
        ("La risposta è B.", THINGS),
        ("Ответ: B", THINGS),
        ("Правильный ответ — B.", THINGS),
        ("答えはBです。", THINGS),
        ("Bが正解です。", THINGS),
        ("したがってBです。", THINGS),
        ("정답은 B입니다.", THINGS),
        ("选B。", THINGS),
        ("只能选B。", THINGS),
        ("选项B是正确的。", THINGS),
        ("因此是B。", THINGS),
        ("答案是红球，因为它最大。", CHINESE),
        ("所以红球最大。", CHINESE),
        ("Die Antwort ist der rote Ball.", GERMAN),
        ("Daher ist der rote Ball am größten.", GERMAN),
        ("정답은 빨간 공입니다.", KOREAN),
    ],
)
def test_the_answer_is_told(sentence: str, texts: tuple[str, ...]) -> None:
    assert told(sentence, texts) == sentence


@pytest.mark.parametrize(
    ("sentence", "texts"),
    [
        ("Frame B is right.", THINGS),
        ("Vitamin B is right here.", THINGS),
        ("Answer B or C.", THINGS),
        ("Answer B: the blue lamp.", THINGS),
        ("Only B shows a cat.", THINGS),
        ("We say B stands for bed.", THINGS),
        ("Everything but B is blue.", THINGS),
        ("Everything but C can be excluded.", THINGS[:3]),
        ("None of A and B is seen.", THINGS),
        ("The answer isn't B.", THINGS),
        ("It isn't B.", THINGS),
        ("It is the blue lamp.", THINGS),
        ("Look at the second option.", THINGS),
        ("Is the second option right?", THINGS),
        ("The second one is right of it.", THINGS),
        ("The blue lamp is right of the cup.", THINGS),
        ("The blue lamp is correct in its size.", THINGS),
        ("The red cup is the right answer.", THINGS),
        ("If the blue lamp is correct, it stands there.", THINGS),
        ("Whether it must be the blue lamp is open.", THINGS),
        ("The answer is the blue lamp or the red cup.", THINGS),
        ("The correct answer is not the blue lamp.", THINGS),
        ("There are 4 cups.", NUMBERS),
        ("It is 4 o'clock.", NUMBERS),
        ("The answer is 4 or 5.", NUMBERS),
        ("The answer is 4 times as far.", NUMBERS),
        ("The answer is 14.", NUMBERS),
        ("The answer is 4.5.", NUMBERS),
        ("14 is correct.", NUMBERS),
        ("Picture 4 is correct.", NUMBERS),
        ("So it is 4 metres high.", NUMBERS),
        ("The answer is no longer seen.", NO),
        ("The answer is a lamp.", SAME),
        ("The answer is red cup.", HELD),
        ("The red cup is the right answer.", HELD),
        ("It must be the red cup.", HELD),
        ("The blue lamp is 30 wide.", THINGS),
        ("The blue lamp is so large.", THINGS),
        ("So the blue lamp is not the largest.", THINGS),
        ("So far the blue lamp is the largest.", THINGS),
        ("So the blue lamp is larger than the red cup.", THINGS),
        ("So both the blue lamp and the red cup are seen.", THINGS),
        ("So is it the blue lamp?", THINGS),
        ("So the blue lamp may be it.", THINGS),
        ("If so, the blue lamp is seen.", THINGS),
        ("Therefore the red cup is the largest.", THINGS),
        ("So I must look.", THINGS),
        ("So 4 are on the table.", NUMBERS),
        ("Only B fits in the box.", THINGS),
        ("B is the winner of the match.", THINGS),
        ("B is smaller than C, so pick it.", THINGS),
        ("Also B.", THINGS),
        ("Die Antwort ist nicht B.", THINGS),
        ("Die Antwort ist B oder C.", THINGS),
        ("Welche Antwort ist richtig?", THINGS),
        ("Wenn die Antwort B ist, steht sie links.", THINGS),
        ("Antworte kurz, z. B.: Die Antwort ist B.", THINGS),
        ("Si la réponse est B, elle est à gauche.", THINGS),
        ("La respuesta es B o C.", THINGS),
        ("Por ejemplo: La respuesta es B.", THINGS),
        ("Se a resposta é B, fica à esquerda.", THINGS),
        ("Ответ не B.", THINGS),
        ("答えはBかCです。", THINGS),
        ("Bは正解ではない。", THINGS),
        ("정답은 B 또는 C입니다.", THINGS),
        ("选B还是选C？", THINGS),
        ("如果选B，球在左边。", THINGS),
        ("如果答案是B，球在左边。", THINGS),
        ("应该选B吗？", THINGS),
        ("红球宽30。", CHINESE),
        ("所以红球不是最大的。", CHINESE),
        ("所以红球和绿球都在。", CHINESE),
        ("答案是红球的左边。", CHINESE),
        ("答案是红球或蓝球。", CHINESE),
    ],
)
def test_speaking_of_it_is_not_telling(sentence: str, texts: tuple[str, ...]) -> None:
    assert told(sentence, texts) is None


@pytest.mark.parametrize(
    ("sentence", "is_told"),
    [("So option 2 is the darker one.", True), ("So picture 2 is the darker one.", False), ("So 2 are left.", False)],
)
def test_a_number_needs_a_noun_to_be_an_option(sentence: str, is_told: bool) -> None:
    options = tuple(Option(key, (text,)) for key, text in zip("123", THINGS, strict=False))
    said = leaking_sentence(sentence, Lesson("t", "", "", (), options, "2", None, {}))
    assert said == (sentence if is_told else None)


def lesson(*texts: str) -> Lesson:
    options = tuple(Option(key, (text,)) for key, text in zip("ABCD", texts, strict=False))
    return Lesson("t", "", "", (), options, "B", None, {})


@pytest.mark.parametrize(
    "text",
    [
        "the brown bucket (correct)",
        "the brown bucket <- the right answer",
        "the brown bucket ✓",
        "The bucket was moved. The answer is B.",
        "the brown bucket [right answer].",
    ],
)
def test_a_mark_at_the_right_option_is_found(text: str) -> None:
    assert is_marked(lesson("the red cup", text, "the lamp"))


@pytest.mark.parametrize(
    "texts",
    [
        ("the red cup (correct)", "the brown bucket", "the lamp"),
        ("✗", "✓"),
        ("the lamp (left)", "the lamp (right)"),
        ("not it (correct)", "it (correct)"),
        ("The answer is 3.", "The answer is 4."),
        ("the cup (left)", "the cup on the right"),
        ("A and C", "B"),
        ("correct", "right"),
    ],
)
def test_options_that_show_nothing(texts: tuple[str, ...]) -> None:
    assert not is_marked(lesson(*texts))
