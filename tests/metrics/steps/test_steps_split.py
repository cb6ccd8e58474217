"""Steps read from tagged, headed, numbered and plain text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.steps.split import split_steps
from sightline.types import Step

MIR = ["summary", "caption", "text-to-region", "region-to-region", "conclusion"]

CASES = [
    (
        "<summary>Compare two cars.</summary><caption>A red car.</caption><text2img>car → left</text2img>"
        "<img2img>left is nearer</img2img><conclusion>B</conclusion>",
        MIR,
        ["Compare two cars.", "A red car.", "car → left", "left is nearer", "B"],
    ),
    ("<SUMMARY>\nOne.\n</SUMMARY>\n\n<CONCLUSION> A", ["summary", "conclusion"], ["One.", "A"]),
    ("Let me see. <text-to-region>The word car</text-to-region>", ["text-to-region"], ["The word car"]),
    ("<step1>Look.</step1><step2>Count.</step2>", ["think", "think"], ["Look.", "Count."]),
    (
        "Summary: Two cars.\nCaption: A red car and a blue one.\nText-to-Region: the word car is on the left.\n"
        "Region-to-Region: the left one is nearer.\nConclusion: B",
        MIR,
        [
            "Two cars.",
            "A red car and a blue one.",
            "the word car is on the left.",
            "the left one is nearer.",
            "B",
        ],
    ),
    (
        "**Summary:** Two cars.\n\n### Caption\nA red car.\n\n**Conclusion**: B",
        ["summary", "caption", "conclusion"],
        ["Two cars.", "A red car.", "B"],
    ),
    (
        "Summary: Two cars. Caption: A red car. Conclusion: B",
        ["summary", "caption", "conclusion"],
        ["Two cars.", "A red car.", "B"],
    ),
    (
        "1. Summary: Two cars.\n2. Region to region: left of it.",
        ["summary", "region-to-region"],
        ["Two cars.", "left of it."],
    ),
    (
        "Step 1: Look at the picture.\nStep 2: Search for the tower.\nStep 3 (Conclusion): Paris",
        ["think", "search", "conclusion"],
        ["Look at the picture.", "Search for the tower.", "Paris"],
    ),
    (
        "总结：两辆车。\n图像描述：一辆红色的车。\n文本到区域：车在左边。\n区域到区域：左边更近。\n结论：B",
        MIR,
        ["两辆车。", "一辆红色的车。", "车在左边。", "左边更近。", "B"],
    ),
    ("第一步：观察图片。\n第二步：搜索地标。", ["think", "search"], ["观察图片。", "搜索地标。"]),
    ("步骤1：观察图片。步骤2：数一数。", ["think", "think"], ["观察图片。", "数一数。"]),
    (
        "1. Identify the tower. 2. Search its height, about 3.5 km. 3. Answer the question.",
        ["think", "search", "think"],
        ["Identify the tower.", "Search its height, about 3.5 km.", "Answer the question."],
    ),
    ("1、识别建筑。2、百度搜索它的高度。", ["think", "search"], ["识别建筑。", "百度搜索它的高度。"]),
    ("Here is how:\n1) Look\n2) Count", ["think", "think"], ["Look", "Count"]),
    ("The tower is old.\n1) Look\n2) Count", ["think", "think", "think"], ["The tower is old.", "Look", "Count"]),
    ("First paragraph.\n\nSecond one.", ["think", "think"], ["First paragraph.", "Second one."]),
    ("Just one sentence with 2. nothing else.", ["think"], ["Just one sentence with 2. nothing else."]),
    ("The caption shows a car in summary.", ["think"], ["The caption shows a car in summary."]),
    ("", [], []),
    (" \n\n ", [], []),
]


@pytest.mark.parametrize(("text", "kinds", "texts"), CASES)
def test_split(text: str, kinds: list[str], texts: list[str]) -> None:
    steps = split_steps(text)
    assert [step.text for step in steps] == texts
    assert [step.kind for step in steps] == kinds


@settings(deadline=None, max_examples=150)
@given(st.text(st.sampled_from("<>/summary12.):\n Conclusion步骤一：总结。#* "), max_size=60))
def test_never_raises_and_never_gives_an_empty_step(text: str) -> None:
    assert all(step.text.strip() for step in split_steps(text))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text("abcde ", min_size=3, max_size=20).filter(str.strip), min_size=2, max_size=6))
def test_numbered_steps_come_back(texts: list[str]) -> None:
    numbered = " ".join(f"{place}. {text}" for place, text in enumerate(texts, start=1))
    assert [step.text for step in split_steps(numbered)] == [text.strip() for text in texts]
    assert split_steps("<summary>" + texts[0] + "</summary>") == (Step("summary", texts[0].strip()),)
