import re
from pathlib import Path

import pytest

from brainsmith.build.circuits import read_circuit, read_synthesis
from brainsmith.build.report import SCHEMA, Report, summary_text
from brainsmith.web.step_result import StepResult, Verified

from .circuit_files import SIMULATION, write_circuit

DOCS = Path(__file__).parents[2] / "docs" / "report.md"
STEPS = [
    StepResult(
        "cleanup",
        "brainsmith",
        0.25,
        True,
        "same",
        Verified(32, 0, 1e-7, "", ("note",), None, target="numpy"),
        original_seconds=2.5,
    ),
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
    "lut_not_modelled": ["a"],
}
RATE = {"fps": 195312.5, "measured": False, "estimate": 195312.5, "target": 200000, "met": False}
BOUND = (
    "the estimate of LUTs is a lower bound: there is no model of them for 1 of 1 layers (1 MVAU_rtl); "
    "`output: synthesised` counts them, and of RTL layers `args: {estimate: {synthesise: true}}`"
)
SLOW = (
    "the estimate of 195,312 frames per second is below the target of 200,000; the report shows the slowest "
    "layers"
)
UNVERIFIED = "step 'odd' was not verified: it has 2 outputs"
ACCURACY = {"samples": 360, "before": 0.9639, "after": None}


def report(**changes):
    fields = {
        "build_id": "0123456789abcdef",
        "model": {},
        "blueprint": {},
        "plugins": [],
        "modules": [],
        "steps": STEPS,
        "layers": [{"name": "a", "op_type": "MVAU_rtl", "lut": None}],
        "estimate": ESTIMATE,
        "rtl": None,
        "synthesis": None,
        "accuracy": ACCURACY,
        "warnings": ["look here"],
        "graphs": None,
        "rate": RATE,
        "golden": {"samples": 360, "random": False, "problem": "", "generated_problem": ""},
    }
    return Report(**{**fields, **changes}).to_plain()


def test_the_steps():
    assert report()["steps"] == [
        {
            "name": "cleanup",
            "framework": "brainsmith",
            "seconds": 0.25,
            "original_seconds": 2.5,
            "reused": True,
            "cache": "same",
            "verified": {
                "samples": 32,
                "generated": 0,
                "mismatches": 0,
                "max_error": 1e-7,
                "target": "numpy",
                "notes": ["note"],
            },
            "messages": [],
        },
        {
            "name": "odd",
            "framework": "finn",
            "seconds": 1.0,
            "original_seconds": None,
            "reused": False,
            "cache": "new",
            "verified": {
                "samples": 0,
                "generated": 0,
                "mismatches": 0,
                "max_error": None,
                "target": "",
                "notes": [],
                "reason": "it has 2 outputs",
            },
            "messages": [],
        },
        {
            "name": "off",
            "framework": "finn",
            "seconds": 1.0,
            "original_seconds": None,
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
        "cycles     1,024 per frame, 2,528 latency (estimated)",
        "resources  at least 1,271 LUT, 3 BRAM18, unknown DSP (estimated)",
        "rate       195,312 frames per second, estimated; target 200,000: missed",
        "accuracy   not measured after the build, 96.39 % before (360 samples)",
        "proven     no: 3 shortfalls, named below",
        "output     /out",
        f"shortfall: {UNVERIFIED}",
        f"shortfall: {SLOW}",
        f"shortfall: {BOUND}",
        "warning: look here",
    ]


def test_the_summary_without_estimates():
    bare = report(layers=[], estimate=None, rate=None, accuracy=None, warnings=[])
    assert summary_text(bare, Path("/out")).splitlines() == [
        "steps      3 in 2.2 s, 1 reused",
        "proven     no: 1 shortfall, named below",
        "output     /out",
        f"shortfall: {UNVERIFIED}",
    ]


def circuit_summary(folder, **files):
    """The lines between those of the steps and that of the output."""
    write_circuit(folder, **files)
    found = {"rtl": read_circuit(folder), "synthesis": read_synthesis(folder)}
    made = report(steps=STEPS[:1], layers=[], estimate=None, rate=None, accuracy=None, warnings=[], **found)
    return summary_text(made, folder).splitlines()[1:]


def test_the_summary_of_a_circuit(tmp_path):
    (tmp_path / "accelerator").mkdir()
    (tmp_path / "report.html").touch()
    assert circuit_summary(tmp_path) == [
        "circuit    0 of 360 frames differ; with stalls 0 of 1,080 frames differ "
        "(stalled: input 31 %, output 29 % of the cycles); 0 of 8 generated frames differ",
        "measured   512 per frame (estimated 512), 640 latency (estimated 576)",
        "FIFOs      1 with 224 bits",
        "synthesis  4,312 LUT, 5,120 FF, 3 BRAM18, 8 DSP, 2 URAM (xcup by Yosys 0.70)",
        "clock      356 MHz estimated, 200 asked for; 0.75 x FINN's matrix-vector unit; slowest layer MVAU_rtl_0",
        "proven     yes",
        f"output     {tmp_path}",
        f"package    {tmp_path}/accelerator",
        f"report     {tmp_path}/report.html",
    ]


def test_the_summary_of_a_circuit_that_was_not_simulated(tmp_path):
    assert circuit_summary(tmp_path, rtl_simulation=None, rtl_synthesis=None) == [
        "FIFOs      1 with 224 bits",
        "proven     yes",
        f"output     {tmp_path}",
    ]


def test_the_summary_of_a_circuit_of_which_little_is_known(tmp_path):
    simulation = {"frames": 3, "interval_cycles": 512.25, "stalled_frames": 9, "stalled_mismatches": 2}
    assert circuit_summary(tmp_path, design=None, rtl_simulation=simulation, rtl_synthesis={"lut": 1}) == [
        "circuit    3 frames, not compared; with stalls 2 of 9 frames differ",
        "measured   512.25 per frame (estimated unknown), unknown latency (estimated unknown)",
        "FIFOs      1 with 224 bits",
        "synthesis  1 LUT, unknown FF, unknown BRAM18, unknown DSP",
        "proven     no: 1 shortfall, named below",
        f"output     {tmp_path}",
        "shortfall: the circuit's frames were not compared with the model's",
    ]


def test_the_summary_of_one_frame_states_the_estimate(tmp_path):
    simulation = {
        "frames": 1, "mismatches": 0, "interval_cycles": None, "interval_estimate": 512, "latency_cycles": 700,
        "latency_estimate": 690,
    }  # fmt: skip
    assert circuit_summary(tmp_path, rtl_simulation=simulation, rtl_synthesis=None)[:2] == [
        "circuit    0 of 1 frames differ",
        "measured   512 per frame (estimated; not measured), 700 latency (estimated 690)",
    ]


def names(value):
    """All names of fields in a part of the report."""
    if isinstance(value, list):
        return {name for item in value for name in names(item)}
    return set(value) | names(list(value.values())) if isinstance(value, dict) else set()


def test_every_field_of_a_circuit_is_documented(tmp_path):
    write_circuit(tmp_path)
    documented = set(re.findall(r"`(\w+)(?:\[\])?`", DOCS.read_text()))
    assert names(read_circuit(tmp_path)) | names(read_synthesis(tmp_path)) <= documented
    assert set(SIMULATION) <= names(read_circuit(tmp_path))


def test_what_approximates_and_the_float_model_are_in_the_summary(tmp_path):
    distance = {"agreement": 0.9875, "max_error": 12.5, "mean_error": 1.25}
    floats = {"samples": 360, "accuracy": 0.95, "before": distance, "after": distance}
    content = report(float_model=floats)
    content["steps"][0]["verified"] |= {"changed": 2, "samples": 360, "max_error": 0.5}
    lines = summary_text(content, tmp_path).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("accuracy"))
    assert lines[at + 1 : at + 3] == [
        "changed    cleanup approximates: 2 of 360 samples in another class, largest error 0.5",
        "float      98.75 % of the classes of the float model after the build, error 1.25 on average, 12.5 at most",
    ]
    classes = {"agreement": 0.5, "max_error": None, "mean_error": None}
    said = summary_text(report(float_model={**floats, "before": classes, "after": None}), tmp_path)
    assert "float      50.00 % of the classes of the float model before the build\n" in said


def test_a_reader_of_the_file_meets_the_parts_in_their_order():
    assert list(report(error={"step": "odd", "message": "no"})) == [
        "schema", "build_id", "model", "blueprint", "plugins", "modules", "steps", "layers", "integers", "estimate", "rtl",
        "synthesis", "fit", "device", "rate", "golden", "accuracy", "float_model", "targets", "strict", "shortfalls",
        "warnings", "graphs", "files", "error",
    ]  # fmt: skip


def test_every_field_is_documented():
    text = DOCS.read_text()
    assert f'`"{SCHEMA}"`' in text
    documented = set(re.findall(r"`(\w+)(?:\[\])?`", text))
    fields = set(report()) | {key for step in report()["steps"] for key in step}
    fields |= {key for step in report()["steps"] if step["verified"] for key in step["verified"]}
    fields |= set(RATE) | set(report()["golden"]) | set(report()["shortfalls"][0])
    assert fields | set(ESTIMATE) | set(ACCURACY) <= documented


@pytest.mark.parametrize(
    ("results", "reason", "line"),
    [
        ([("numpy", True, ""), ("rtlsim", True, "")], "", "numpy, rtlsim agree with reference (1 sample)"),
        ([("numpy", True, ""), ("rtlsim", False, "")], "",
         "numpy agrees with reference; rtlsim disagrees with reference (1 sample)"),
        ([("pynq", None, "no board")], "", "pynq could not be compared (1 sample)"),
        ([], "target 'reference' failed", "not compared: target 'reference' failed"),
    ],
)  # fmt: skip
def test_the_line_about_targets(results, reason, line):
    found = [
        {"target": name, "agrees": agrees, "reason": why, "rounding": "", "told": name}
        for name, agrees, why in results
    ]
    targets = {"with": "reference", "samples": 1, "reason": reason, "results": found, "named": False}
    assert f"targets    {line}" in summary_text(report(targets=targets), Path("out")).splitlines()
