"""A real process that makes traces of many pictures: `URL FOLDER PICTURES AT_ONCE`."""

from __future__ import annotations

import sys
from pathlib import Path

from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import CallOptions, Session
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.questions import PictureSource, Prompts, Template
from sightline.reason.traces.records import PictureKnowledge, Teacher, TracePicture, TraceRules
from sightline.reason.traces.teachers import TraceSettings


def main(url: str, folder: Path, pictures: int, at_once: int) -> None:
    def subjects() -> list[TracePicture]:
        return [
            TracePicture(f"{number:05d}", f"https://p.example/{number}", PictureKnowledge((f"thing {number}",)))
            for number in range(pictures)
        ]

    settings = TraceSettings(
        (Teacher("vllm/a"), Teacher("vllm/b")), Prompts((Template.of("{label}"),)), rules=TraceRules(language=None)
    )
    asking = CallOptions(base_url=url, limits=RateLimits.at_once(at_once))
    work = TraceWork(
        PictureSource("things", pictures, lambda: iter(subjects())), settings, Session(folder / "ws", calls=asking)
    )
    make_traces(work, folder / "out", format_="jsonl", shard_rows=20)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
