import re
from pathlib import Path

from brainsmith.build.report import SCHEMA, assemble, summary_text
from brainsmith.build.result import StepResult
from brainsmith.build.verify import Verified

DOCS = Path(__file__).parents[2] / "docs" / "report.md"
STEPS = [
    StepResult("cleanup", "brainsmith", 0.25, True, "same", Verified(32, 0, 1e-7, "", ("note",), None)),
    StepResult("odd", "finn", 1.0, False, "new", Verified(0, reason="it has 2 outputs")),
    StepResult("off", "finn", 1.0, False, "new", messages=("slow",)),
]
ESTIMATE = {
    "interval_cycles": 1024,
    "latency_cycles": 2528,
    "fps": 195312.5,
    "lut": 1271,
    "bram18": 3,
    "dsp": None,
}
ACCURACY = {"samples": 360, "before": 0.9639, "after": None}


def report(**changes):
    fields = {
        "model": {},
        "blueprint": {},
        "plugins": [],
        "modules": [],
        "steps": STEPS,
        "layers": [{"name": "a"}],
        "estimate": ESTIMATE,
        "accuracy": ACCURACY,
        "warnings": ["look here"],
        "graphs": None,
    }
    return assemble(**{**fields, **changes})


def test_the_steps():
    assert report()["steps"] == [
        {
            "name": "cleanup",
            "framework": "brainsmith",
            "seconds": 0.25,
            "reused": True,
            "cache": "same",
            "verified": {"samples": 32, "mismatches": 0, "max_error": 1e-7, "notes": ["note"]},
            "messages": [],
        },
        {
            "name": "odd",
            "framework": "finn",
            "seconds": 1.0,
            "reused": False,
            "cache": "new",
            "verified": {
                "samples": 0,
                "mismatches": 0,
                "max_error": None,
                "notes": [],
                "reason": "it has 2 outputs",
            },
            "messages": [],
        },
        {
            "name": "off",
            "framework": "finn",
            "seconds": 1.0,
            "reused": False,
            "cache": "new",
            "verified": None,
            "messages": ["slow"],
        },
    ]


def test_the_summary():
    assert summary_text(report(), Path("/out")).splitlines() == [
        "steps      3 in 2.2 s, 1 reused",
        "layers     1",
        "cycles     1,024 per frame, 2,528 latency",
        "rate       195,312 frames per second",
        "resources  1,271 LUT, 3 BRAM18, unknown DSP",
        "accuracy   not measured after the build, 96.39% before (360 samples)",
        "output     /out",
        "warning: look here",
    ]


def test_the_summary_without_estimates():
    bare = report(layers=[], estimate=None, accuracy=None, warnings=[])
    assert summary_text(bare, Path("/out")).splitlines() == [
        "steps      3 in 2.2 s, 1 reused",
        "output     /out",
    ]


def test_every_field_is_documented():
    text = DOCS.read_text()
    assert f'`"{SCHEMA}"`' in text
    documented = set(re.findall(r"`(\w+)(?:\[\])?`", text))
    fields = set(report()) | {key for step in report()["steps"] for key in step}
    fields |= {key for step in report()["steps"] if step["verified"] for key in step["verified"]}
    assert fields | set(ESTIMATE) | set(ACCURACY) <= documented
