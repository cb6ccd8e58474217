"""Pictures of the built-in world per second and core, and where the time goes: `python benchmarks/world.py [N]`.

Process time of one process, random plans of middling difficulty at 320 x 240 with JPEG encoding at quality 85.
Backgrounds and sprites are kept between pictures, so the first pictures are slower: both rates are printed.
"""

from __future__ import annotations

import itertools
import sys
import time

from PIL import Image

from sightline_world.draw import ScenePlan, draw, jpeg
from sightline_world.draw.backdrop import backdrop
from sightline_world.draw.camera import expose, view
from sightline_world.draw.compose import paint, stage, truth
from sightline_world.scene_plans import random_plan

QUALITY = 85
STEPS = ("background", "layout and sprites", "painting", "frame", "lens and sensor", "truth", "JPEG")


def rate(plans: list[ScenePlan]) -> float:
    start = time.process_time()
    for plan in plans:
        jpeg(draw(plan).image, QUALITY)
    return len(plans) / (time.process_time() - start)


def shares(plans: list[ScenePlan]) -> dict[str, float]:
    """Milliseconds of each step for a picture."""
    spent = dict.fromkeys(STEPS, 0.0)
    for plan in plans:
        clock = time.process_time
        marks = [clock()]
        place = backdrop(plan.place, plan.light, plan.variant, plan.size)
        canvas = place.image.copy()
        marks.append(clock())
        staged = stage(plan)
        marks.append(clock())
        paint(canvas, staged, plan, place.light)
        marks.append(clock())
        frame = view(plan.camera, plan.size)
        seen = frame.through(canvas, Image.Resampling.BILINEAR)
        marks.append(clock())
        image = expose(seen, plan.camera, 0)
        marks.append(clock())
        truth(plan, staged, frame)
        marks.append(clock())
        jpeg(image, QUALITY)
        marks.append(clock())
        for step, (start, end) in zip(STEPS, itertools.pairwise(marks), strict=True):
            spent[step] += end - start
    return {step: 1000 * seconds / len(plans) for step, seconds in spent.items()}


def main(count: int) -> None:
    begun = time.process_time()
    plans = [random_plan(number) for number in range(2 * count)]
    planning = 1000 * (time.process_time() - begun) / len(plans)
    print(f"{'first pictures':<20}{rate(plans[:count]):8.0f} pictures/s per core ({count} of them)")
    print(f"{'later pictures':<20}{rate(plans[count:]):8.0f} pictures/s per core ({count} of them)")
    steps = {"random plan": planning, **shares(plans[count : count + 300])}
    for step, spent in sorted(steps.items(), key=lambda pair: -pair[1]):
        print(f"{step:<20}{spent:8.2f} ms {100 * spent / sum(steps.values()):5.0f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
