"""From a text to its steps: tagged, headed or numbered, in English or Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sightline.metrics.answers.reply import plain
from sightline.types import Step, StepKind

# Each way to name a kind of step; spaces stand for any of space, hyphen and underscore.
_NAMES: dict[StepKind, tuple[str, ...]] = {
    "summary": ("summary", "总结", "概述", "摘要", "小结"),
    "caption": ("caption", "captions", "image caption", "image description", "图像描述", "图片描述", "描述", "图注"),
    "text-to-region": ("text to region", "text2region", "text2img", "文本到区域", "文字到区域", "文本区域对应"),
    "region-to-region": ("region to region", "region2region", "img2img", "区域到区域", "区域间关系", "区域关系"),
    "conclusion": ("conclusion", "final answer", "answer", "结论", "最终答案", "答案"),
    "search": ("search", "搜索", "检索"),
    "think": ("reasoning", "thinking", "thought", "think", "推理", "思考", "分析"),
}
_KINDS: dict[str, StepKind] = {name: kind for kind, names in _NAMES.items() for name in names}
_NAME = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]?") for name in sorted(_KINDS, key=len, reverse=True))
_TAG = re.compile(rf"<(?P<name>{_NAME}|step[\s_-]?\d*)>(?P<content>[^<]*)", re.IGNORECASE)
_ORDINAL = r"(?:step\s*\d+|步骤\s*[\d一二三四五六七八九十]+|第\s*[\d一二三四五六七八九十]+\s*步)"
_HEADING = re.compile(
    rf"(?:^|(?<=[.!?。！？]\s)|(?<=[。！？]))[ \t]*(?:\(?\d{{1,2}}[.)、][ \t]*)?"
    rf"(?:{_ORDINAL}[ \t]*[:：.)、-]*[ \t]*(?:\((?P<noted>{_NAME})\)[ \t]*[:：]?|(?P<named>{_NAME})[ \t]*[:：])?"
    rf"|(?P<name>{_NAME})[ \t]*(?:[:：]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_MARKER = re.compile(r"(?:^|(?<=[\s。；;.]))[(（]?(?P<number>\d{1,2})[.)）、．](?!\d)\s*")
_SEARCHES = re.compile(
    r"(?:i\s+)?(?:(?:then|next|now)\s+)?(?:re)?search|look\s+up|google|query|使用?搜索|搜索|查询|检索|百度", re.I
)
_EMPTY = " \t\n.,;:*-–—，。；："


def split_steps(text: str) -> tuple[Step, ...]:
    """The steps of a text, by the first of these that it has: tags, headings, numbers 1, 2, …, paragraphs.

    A step that no name classifies is "search" if it begins so, else "think". Text outside tags is left out; a
    preface before the first heading or number is a step unless it announces what follows with a colon.
    """
    tagged = tuple(_tagged(text))
    if tagged:
        return tagged
    text = plain(text)
    for split in (_headed, _numbered):
        found = tuple(split(text))
        if found:
            return found
    return tuple(_step(None, paragraph) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip(_EMPTY))


def _tagged(text: str) -> Iterator[Step]:
    for found in _TAG.finditer(text):
        if found["content"].strip(_EMPTY):
            yield _step(found["name"], plain(found["content"]))


def _headed(text: str) -> Iterator[Step]:
    marks = list(_HEADING.finditer(text))
    if not marks:
        return
    yield from _preface(text[: marks[0].start()])
    for mark, content in _between(text, marks):
        yield _step(mark["name"] or mark["named"] or mark["noted"], content)


def _numbered(text: str) -> Iterator[Step]:
    marks: list[re.Match[str]] = []
    for mark in _MARKER.finditer(text):
        if int(mark["number"]) == len(marks) + 1:
            marks.append(mark)
    if len(marks) < 2:
        return
    yield from _preface(text[: marks[0].start()])
    yield from (_step(None, content) for _, content in _between(text, marks))


def _between(text: str, marks: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """Each mark with what stands behind it, up to the next one; those with nothing behind them are left out."""
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    for mark, end in zip(marks, ends, strict=True):
        if (content := text[mark.end() : end]).strip(_EMPTY):
            yield mark, content


def _preface(text: str) -> Iterator[Step]:
    text = text.strip()
    if text.strip(_EMPTY) and text[-1] not in ":：":
        yield _step(None, text)


def _step(name: str | None, content: str) -> Step:
    content = content.strip()
    kind = None if name is None else _KINDS.get(re.sub(r"[\s_-]+", " ", name.strip().lower()))
    if kind is None:
        kind = "search" if _SEARCHES.match(content) else "think"
    return Step(kind, content)
