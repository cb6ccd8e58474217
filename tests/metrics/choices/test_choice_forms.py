"""The option parser on forms that models write: each line is a reply, the key that it means, and how it was read."""

from __future__ import annotations

import pytest

from sightline.metrics.choices.parse import parse_choice

ANIMALS = {"A": "cat", "B": "dog", "C": "red panda", "D": "None of the above"}
CARS = {"A": "The red car", "B": "The blue car", "C": "Both cars at the same speed", "D": "The lorry"}
LENGTHS = {"A": "12 km", "B": "30 km", "C": "33 km", "D": "45 km"}
SIDES = {"A": "left", "B": "right"}
BALLS = {"A": "红球", "B": "蓝球"}
LETTERS = ("A", "B", "C", "D")

# reply, key, status
PLAIN = [
    ("A", "A", "parsed"),
    ("b", "B", "parsed"),
    ("(a)", "A", "parsed"),
    ("b)", "B", "parsed"),
    ("(C)", "C", "parsed"),
    ("[D]", "D", "parsed"),
    ("B.", "B", "parsed"),
    ("B\n", "B", "parsed"),
    ("**C**", "C", "parsed"),
    ("**C.**", "C", "parsed"),
    ("`D`", "D", "parsed"),
    ('"B"', "B", "parsed"),
    ("Option B", "B", "parsed"),
    ("option (c)", "C", "parsed"),
    ("Your option: A", "A", "parsed"),
    ("Your option: A\nReason: The first picture is brighter than the second.", "A", "parsed"),
    ("Your option: (B)\nReason: A shows the wrong side, C is too dark.", "B", "parsed"),
    ("Option: A. Reason: the arrow points to the left.", "A", "parsed"),
    ("your option: c\nreason: ...", "C", "parsed"),
    ("Answer is (B)", "B", "parsed"),
    ("Answer: B.", "B", "parsed"),
    ("Answer: B", "B", "parsed"),
    ("answer: d", "D", "parsed"),
    ("ANSWER: $D$", "D", "parsed"),
    ("Answer - C", "C", "parsed"),
    ("Ans. (C)", "C", "parsed"),
    ("Ans: A", "A", "parsed"),
    ("Answer B", "B", "parsed"),
    ("Final Answer: **B**", "B", "parsed"),
    ("### Answer\nB", "B", "parsed"),
    ("### Final answer\n\n**(D)**", "D", "parsed"),
    ("The correct answer is:\n\n**B**", "B", "parsed"),
    ("The answer is D: 45 km", "D", "parsed"),
    ("The answer is B", "B", "parsed"),
    ("The correct option is C.", "C", "parsed"),
    ("The best choice would be (A).", "A", "parsed"),
    ("The answer should be option D.", "D", "parsed"),
    ("The answer to the question is B, since the car moves left.", "B", "parsed"),
    ("The answer is most likely B.", "B", "parsed"),
    ("I choose B because it is larger.", "B", "parsed"),
    ("I would go with C.", "C", "parsed"),
    ("I'd pick option A.", "A", "parsed"),
    ("My choice is D.", "D", "parsed"),
    ("Going with B here.", "B", "parsed"),
    ("Option B is correct because A is wrong", "B", "parsed"),
    ("Option B is correct because A is wrong.", "B", "parsed"),
    ("C is the correct answer.", "C", "parsed"),
    ("(B) is the best answer", "B", "parsed"),
    ("B seems to be the most plausible choice.", "B", "parsed"),
    ("The correct answer is not A but C", "C", "parsed"),
    ("The answer is not A, but rather D.", "D", "parsed"),
    ("C. It is the only one with stripes.", "C", "parsed"),
    ("C) because the others do not fit", "C", "parsed"),
    ("B, because the shadow falls to the left.", "B", "parsed"),
    ("D - the fourth picture", "D", "parsed"),
    ("B\n\nThe second picture shows the same room from the other side.", "B", "parsed"),
    ("The second picture shows the same room.\n\nB", "B", "parsed"),
    ("$\\boxed{D}$", "D", "parsed"),
    ("Thus the result is \\boxed{\\text{B}}.", "B", "parsed"),
    ("\\boxed{C. the third}", "C", "parsed"),
    ("\\[\\boxed{\\mathrm{A}}\\]", "A", "parsed"),
    ("<conclusion>B</conclusion>", "B", "parsed"),
    ("<CONCLUSION> The answer is C. </CONCLUSION>", "C", "parsed"),
    ("<summary>A and B are shown.</summary><conclusion>B", "B", "parsed"),
    ("<answer>A</answer>", "A", "parsed"),
    ("<answer>\n(D)\n</answer>", "D", "parsed"),
    ("<think>It might be A. Or C.</think><answer>B</answer>", "B", "parsed"),
    ("<think>The answer is A? No.</think>\n\nThe answer is B.", "B", "parsed"),
    ("A looks wrong, so I doubt it.</think>B", "B", "parsed"),
    ('{"answer": "B"}', "B", "parsed"),
    ('```json\n{"reason": "A is too dark", "option": "C"}\n```', "C", "parsed"),
    ("{'choice': 'd'}", "D", "parsed"),
    ("答案是 A", "A", "parsed"),
    ("答案：(C)", "C", "parsed"),
    ("答案为B。", "B", "parsed"),
    ("正确答案是选项D", "D", "parsed"),
    ("选 B", "B", "parsed"),
    ("故选C。", "C", "parsed"),
    ("我选择D，因为其他选项不符合。", "D", "parsed"),
    ("因此，答案应该是B。", "B", "parsed"),
    ("选项A不正确，选项B正确。", "B", "parsed"),
    ("不选A，选C。", "C", "parsed"),
    ("【答案】B", "B", "parsed"),
    ("Ｂ", "B", "parsed"),
    ("答案：Ｃ", "C", "parsed"),
    ("А", "A", "parsed"),
    ("The answer is С.", "C", "parsed"),
    ("Ответ: В", "B", "parsed"),
    ("🅱️", "B", "parsed"),
    ("Ⓒ", "C", "parsed"),
    ("Options considered: A, B, C. A is too small and C too dark. So B.", "B", "parsed"),
    ("Options considered: A, B, C and D.\nTherefore, (D).", "D", "parsed"),
    ("A shows a tower. B shows a bridge. The answer is B.", "B", "parsed"),
    ("At first I thought A. Then C. The final answer is D.", "D", "parsed"),
    ("The answer is A. Wait, the shadow is on the other side. The answer is C.", "C", "parsed"),
    ("The answer is A. Wait, no, it is B.", "B", "parsed"),
    ("Answer: A. Actually, B.", "B", "parsed"),
    ("Answer: A, no, B", "B", "parsed"),
    ("Answer: A.\nActually, it should be (B) because of the shadow.", "B", "parsed"),
    ("答案是A。不对，是B。", "B", "parsed"),
    ("答案是A。等等，应该选C。", "C", "parsed"),
    ("Final answer: A. Correction: B", "B", "parsed"),
    ("So the answer is A. Wait, the answer is B.", "B", "parsed"),
    ("So the answer is A. Wait, B is correct.", "B", "parsed"),
    ("\\boxed{A} Wait, that's wrong. It's D.", "D", "parsed"),
    ("A. Wait, no, it is B.", "B", "parsed"),
    ("The answer is A. Wait, B. Actually, C.", "C", "parsed"),
    ("The answer is A. Wait, that's wrong.", None, "ambiguous"),
    ("The answer is A. Actually, the shadow shows it too.", "A", "parsed"),
    ("The answer is A. Actually, B is too dark.", "A", "parsed"),
    ("The answer is A. Could it be B? No, B is too dark.", "A", "parsed"),
    ("The answer is A. Wait for the light to see it.", "A", "parsed"),
    ("I would choose the second option", None, "unparsed"),
    ("I would choose option", None, "cut off"),
    ("The answer seems to be A at first sight; the answer is B? Final answer: C", "C", "parsed"),
    ("A is wrong. B is incorrect. It has to be D.", "D", "parsed"),
    ("Answer: B\nExplanation: A, C and D do not match the shadow.", "B", "parsed"),
    ("Let's compare. In picture A the car is far. I am sure that (C) fits.", None, "ambiguous"),
    ("A or B", None, "ambiguous"),
    ("A/B", None, "ambiguous"),
    ("Either A or C.", None, "ambiguous"),
    ("A and C", None, "ambiguous"),
    ("The answer is A or B.", None, "ambiguous"),
    ("Both A and B are correct.", None, "ambiguous"),
    ("The answer is A. The answer is B.", None, "ambiguous"),
    ("<answer>A</answer> or <answer>B</answer>", None, "ambiguous"),
    ("答案是A或B", None, "ambiguous"),
    ("A is bigger. B is smaller.", None, "ambiguous"),
    ("I can't help with that.", None, "refused"),
    ("I'm sorry, but I cannot identify people in pictures.", None, "refused"),
    ("抱歉，我无法回答这个问题。", None, "refused"),
    ("As an AI, I do not have access to the picture.", None, "refused"),
    ("", None, "empty"),
    ("  \n ", None, "empty"),
    ("<think>so the answer is B</think>", None, "empty"),
    ("<think>First, look at option B, which shows", None, "cut off"),
    ("Looking at option B, we see that the car is moving towards the", None, "cut off"),
    ("Let us go through the options. The correct answer is", None, "cut off"),
    ("首先看选项B，我们可以看到图中的汽车正在向左边移动，而", None, "cut off"),
    ("A dog is running on the beach.", None, "unparsed"),
    ("I think that it is too dark to say.", None, "unparsed"),
    ("The pictures show a street.", None, "unparsed"),
    ("E", None, "unparsed"),
    ("The temperature is 25 °C.", None, "unparsed"),
    ("None of them.", None, "unparsed"),
    ("Die Antwort ist B.", "B", "parsed"),
    ("La réponse est A.", "A", "parsed"),
    ("La respuesta correcta es la A.", "A", "parsed"),
    ("A ist richtig.", "A", "parsed"),
    ("答えはAです。", "A", "parsed"),
    ("Aが正解です。", "A", "parsed"),
    ("정답은 A입니다.", "A", "parsed"),
    ("只能选B。", "B", "parsed"),
    ("Die Antwort ist B oder C.", None, "ambiguous"),
    ("答えはBかCです。", None, "ambiguous"),
    ("정답은 B 또는 C입니다.", None, "ambiguous"),
    ("Die Antwort ist nicht B.", None, "unparsed"),
    ("La respuesta no es B.", None, "unparsed"),
    ("Ответ не B.", None, "unparsed"),
]

BY_TEXT = [
    ("cat", ANIMALS, "A", "text"),
    ("It is a red panda.", ANIMALS, "C", "text"),
    ("The animal in the picture is a dog.", ANIMALS, "B", "text"),
    ("Red Panda", ANIMALS, "C", "text"),
    ("None of the above", ANIMALS, "D", "text"),
    ("The answer is none of the above.", ANIMALS, "D", "text"),
    ("Answer: dog", ANIMALS, "B", "text"),
    ("<answer>red panda</answer>", ANIMALS, "C", "text"),
    ("B. dog", ANIMALS, "B", "parsed"),
    ("The answer is A cat.", ANIMALS, "A", "parsed"),
    ("The answer is a dog.", ANIMALS, "B", "text"),
    ("A dog is running on the beach.", ANIMALS, "B", "text"),
    ("It is not a cat. It is a dog.", ANIMALS, "B", "text"),
    ("a cat or a dog", ANIMALS, None, "ambiguous"),
    ("There is a cat next to a dog.", ANIMALS, None, "ambiguous"),
    ("The red car", CARS, "A", "text"),
    ("I believe the blue car is faster.", CARS, "B", "text"),
    ("the red car is the answer", CARS, "A", "text"),
    ("Both cars at the same speed.", CARS, "C", "text"),
    ("45 km", LENGTHS, "D", "text"),
    ("The answer is 45km.", LENGTHS, "D", "text"),
    ("The distance is 30 km.", LENGTHS, "B", "text"),
    ("The answer is 45000 m", LENGTHS, "D", "text"),
    ("50 km", LENGTHS, None, "unparsed"),
    ("Yes, there is.", {"A": "Yes", "B": "No"}, "A", "text"),
    ("No", {"A": "Yes", "B": "No"}, "B", "text"),
    ("There is no dog.", {"A": "Yes", "B": "No"}, None, "unparsed"),
    ("It cannot be determined from the picture.", {"A": "Left", "B": "Cannot be determined"}, "B", "text"),
    ("北京", {"A": "上海", "B": "北京", "C": "广州"}, "B", "text"),
    ("图中的城市是北京。", {"A": "上海", "B": "北京", "C": "广州"}, "B", "text"),
    ("car", {"A": "car", "B": "Car"}, None, "ambiguous"),
    ("红球最大。", BALLS, "A", "text"),
    ("所以红球比较大。", BALLS, "A", "text"),
    ("红球比蓝球大。", BALLS, None, "ambiguous"),
    ("蓝球不对，红球最大。", BALLS, "A", "text"),
    ("红球不是最大的。", BALLS, None, "unparsed"),
    ("大红球最大。", {"A": "红球", "B": "大红球"}, "B", "text"),
    ("사과가 보입니다.", {"A": "사과", "B": "배"}, "A", "text"),
    ("Это дом, который видно.", {"A": "кот", "B": "пёс"}, None, "unparsed"),
    ("The left one is right.", SIDES, None, "ambiguous"),
    ("No, the left one is right.", SIDES, None, "ambiguous"),
    ("No. Left is right.", SIDES, None, "ambiguous"),
    ("No, the left one is correct.", SIDES, "A", "text"),
    ("No – it is on the right.", SIDES, "B", "text"),
    ("No left turn, but a right one.", SIDES, "B", "text"),
    ("Mind that no, no left is there.", SIDES, None, "unparsed"),
    ("不，是左边。", {"A": "左边", "B": "右边"}, "A", "text"),
    ("不是左边，是右边。", {"A": "左边", "B": "右边"}, "B", "text"),
    ("I would say no, they differ.", {"A": "No, they differ", "B": "they differ"}, "A", "text"),
    ("The left one is correct.", SIDES, "A", "text"),
    ("The right one is right.", SIDES, "B", "text"),
    ("It is on the right.", SIDES, "B", "text"),
]

OTHER_KEYS = [
    ("2", ("1", "2", "3", "4"), "2"),
    ("The answer is 3.", ("1", "2", "3", "4"), "3"),
    ("Option 4", ("1", "2", "3", "4"), "4"),
    ("2️⃣", ("1", "2", "3", "4"), "2"),
    ("②", ("1", "2", "3", "4"), "2"),
    ("There are 2 dogs and 3 cats.", ("1", "2", "3", "4"), None),
    ("The answer is 2.5 metres.", ("1", "2", "3", "4"), None),
    ("I think it is F.", tuple("ABCDEFGHI"), "F"),
    ("I am not sure.", tuple("ABCDEFGHI"), None),
    ("The answer is I.", tuple("ABCDEFGHI"), "I"),
    ("(I)", tuple("ABCDEFGHI"), "I"),
    ("The answer is III.", ("I", "II", "III", "IV"), "III"),
    ("IV", ("I", "II", "III", "IV"), "IV"),
    ("I would choose II.", ("I", "II", "III", "IV"), "II"),
    ("The answer is b.", ("a", "b", "c"), "b"),
    ("G", tuple("ABCDEFG"), "G"),
    ("The answer is left", {"left": "the left one", "right": "the right one"}, "left"),
    ("Ответ: Б", {"А": "", "Б": "", "В": ""}, "Б"),
    ("cat", ["cat", "dog"], "A"),
    ("dog", ["A. cat", "B. dog"], "B"),
    ("(2) dog", ["(1) cat", "(2) dog"], "2"),
    ("B", ["cat", "dog"], "B"),
]


@pytest.mark.parametrize(("reply", "key", "status"), PLAIN)
def test_letters(reply: str, key: str | None, status: str) -> None:
    choice = parse_choice(reply, LETTERS)
    assert (choice.option, choice.status) == (key, status)


@pytest.mark.parametrize(("reply", "options", "key", "status"), BY_TEXT)
def test_texts(reply: str, options: dict[str, str], key: str | None, status: str) -> None:
    choice = parse_choice(reply, options)
    assert (choice.option, choice.status) == (key, status)


@pytest.mark.parametrize(("reply", "options", "key"), OTHER_KEYS)
def test_other_keys(reply: str, options: dict[str, str] | tuple[str, ...], key: str | None) -> None:
    assert parse_choice(reply, options).option == key


@pytest.mark.parametrize(
    ("first", "middle", "last", "key"),
    [
        ("", "", "The answer is B.", "B"),
        ("The answer is B.", "", "", "B"),
        ("", "The answer is B.", "", None),
        ("The answer is A.", "The answer is B.", "Wait, the answer is C.", "C"),
        ("<think>", "The answer is A.</think>", "The answer is B.", "B"),
    ],
)
def test_of_a_very_long_reply_both_ends_are_read(first: str, middle: str, last: str, key: str | None) -> None:
    filler = " It goes on and on.\n" * 2_000
    assert parse_choice(f"{first}{filler}{middle}{filler}{last}", LETTERS).option == key


def test_the_ends_of_a_very_long_reply_are_not_one_statement() -> None:
    """A statement that is cut where its answer would stand is not answered by what comes 100,000 characters later."""
    begun = ("So it is. " * 400)[:3_987] + "The answer is"
    told = begun + "x" * 100_000 + ("B. " + "So it is. " * 2_000)[:19_999] + "."
    assert parse_choice(told, LETTERS).option is None


def test_the_table_is_as_large_as_promised() -> None:
    assert len(PLAIN) + len(BY_TEXT) + len(OTHER_KEYS) >= 150
