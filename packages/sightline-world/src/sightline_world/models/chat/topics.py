"""What the name of a field asks for: the terms of annotations and judgments, by the words in the name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from sightline_world.models.chat.lexicon import plain

Topic: TypeAlias = Literal[
    "confidence", "grade", "relevant", "reason", "thinking", "id", "option", "query", "answer", "summary", "title",
    "words", "tags", "kinds", "colour", "people", "place", "light", "setting", "count", "size", "box", "relations",
    "unknown",
]  # fmt: skip
_TOPICS: Mapping[Topic, str] = {
    "confidence": "confidence|certainty|sure|probability|confidences",
    "thinking": "thinking|thoughts|thought|chain of thought|reasoning steps|steps|think",
    "reason": "reason|reasons|rationale|explanation|justification|why|comment|reasoning|evidence|notes|note",
    "relevant": "relevant|is relevant|match|matches|is match|fits",
    "grade": "grade|relevance|relevance label|score|label|rating|relevance grade|relevance score|judgment|judgement|"
    "grades|scores|ratings",
    "id": "id|image id|photo id|picture id|candidate id|filename|file|file name|picture|image|photo|candidate|"
    "image ids|index|picture number|image number|photo number|candidate number|picture index|image index|photo index",
    "option": "option|choice|letter|selected option|chosen option",
    "query": "query|query text|search query|queries|search text|search phrase",
    "answer": "answer|response|final answer|result|value|reply",
    "title": "title|headline|short caption|name|label text",
    "summary": "summary|description|caption|text description|content|overview|details|alt text|"
    "describe|scene description",
    "words": "text|ocr|sign|sign text|signs|words|visible text|written text|text in picture|"
    "text in image|sign words|inscription",
    "tags": "tags|tag|keywords|labels|topics|terms|hashtags",
    "colour": "colour|color|colours|colors|main colour|dominant colour|main color|"
    "dominant color|dominant colors|dominant colours",
    "people": "people|persons|person|humans|figures|characters|faces",
    "light": "light|lighting|weather|time of day|conditions|weather conditions|illumination|"
    "daytime|atmosphere|light condition|season",
    "setting": "setting|indoor outdoor|environment|indoors outdoors|environment type|indoor or outdoor",
    "place": "place|location|scene|scene type|where|surroundings|location type|background|scenery|"
    "venue|place type|landscape",
    "kinds": "objects|object|things|items|main object|subject|main subject|subjects|animals|animal|vehicles|vehicle|"
    "primary object|entities|kind|kinds|object type|category|type|main objects|focus|class",
    "count": "count|number|num|total|quantity|how many|n|amount",
    "size": "size|object size|sizes",
    "box": "box|bbox|bounding box|region|position",
    "relations": "relations|relationships|relation|spatial relations|interactions",
}  # fmt: skip
_BY_PHRASE: Mapping[tuple[str, ...], Topic] = {
    tuple(phrase.split()): topic for topic, phrases in _TOPICS.items() for phrase in phrases.split("|")
}
_LONGEST = max(map(len, _BY_PHRASE))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words_of(name: str) -> list[str]:
    """`mainColour`, `main_colour`, `main-colour` → ["main", "colour"]."""
    return re.findall(r"[a-z]+|\d+", plain(_CAMEL.sub(" ", name)))


def topic_of(name: str) -> Topic:
    """What a field of that name is about: by the whole name, else by its last words that are known."""
    words = words_of(name)
    whole = _BY_PHRASE.get(tuple(words))
    if whole is not None:
        return whole
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length, -1, -1):
            found = _BY_PHRASE.get(tuple(words[start : start + length]))
            if found is not None:
                return found
    return "unknown"
