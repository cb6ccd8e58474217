"""Pictures made in code, with the truth about each: for the demo, the tests and a first look."""

from sightline_world.samples.bad_files import write_bad_files
from sightline_world.samples.benchmark import sample_benchmark, sample_corpus
from sightline_world.samples.files import write_samples
from sightline_world.samples.runs import sample_runs
from sightline_world.samples.truth import Samples, SampleScene, SampleThing, contact_sheet

__all__ = [
    "SampleScene",
    "SampleThing",
    "Samples",
    "contact_sheet",
    "sample_benchmark",
    "sample_corpus",
    "sample_runs",
    "write_bad_files",
    "write_samples",
]
