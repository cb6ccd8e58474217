"""`--system newest:k=20`: the newest pictures, whatever is asked; a baseline for "find my photos of …"."""

from sightline import Benchmark, FunctionSystem
from sightline.runs.systems import Kind, Options, SystemSetting


class NewestOptions(Options):
    k: int = 10


def newest(query: str, k: int, bench: Benchmark) -> list[str]:
    dated = [picture for picture in bench.corpus.pictures.values() if picture.taken_at]
    return [picture.id for picture in sorted(dated, key=lambda one: str(one.taken_at), reverse=True)[:k]]


def open_system(options: NewestOptions, setting: SystemSetting) -> FunctionSystem:
    return FunctionSystem(newest, k=options.k)


KIND = Kind("newest", "the newest pictures", NewestOptions, open_system)
