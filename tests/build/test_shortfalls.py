"""One list of what is not proven: the same in result, warnings, summary, report.json and strict's error."""

import json
from pathlib import Path

import pytest

from brainsmith.blueprint.schema import Blueprint, Goal, Verify
from brainsmith.build import build
from brainsmith.build.rate import rate_line, rate_of
from brainsmith.build.shortfalls import shortfalls_of
from brainsmith.errors import NotProvenError, exit_code
from brainsmith.rtl.package.contents import file_digest
from tests.build import graphs
from tests.build.circuit_files import write_circuit

OFF = "nothing was verified: verification is off (--no-verify, verify=False)"
RANDOM = (
    "no golden inputs: verified with 8 random inputs (seed 0), which says little about real data. Add "
    "`verify: {inputs: x.npy, labels: y.npy}` to the blueprint, or --verify-inputs x.npy."
)
UNVERIFIED = "step 'same' was not verified: the blueprint names it in verify.unverified"
SLOW = (
    "the estimate of 200,000 frames per second is below the target of 200,001; the report shows the slowest "
    "layers"
)
NO_RATE = (
    "the target of 5 frames per second was not checked: no step of the build estimates or measures the rate"
)
BOUND = (
    "the estimate of LUTs is a lower bound: there is no model of them for 1 of 2 layers (1 MVAU_rtl); "
    "`output: synthesised` counts them, and of RTL layers `args: {estimate: {synthesise: true}}`"
)
SMALL = {"lut": 0, "ff": 1, "bram18": 0, "uram": 0, "dsp": 1}
BEYOND = (
    "the design does not fit xczu7ev: by the estimate it needs too much of LUT (1 of 0); lower the target rate, or take a "
    "larger part"
)
PROVEN = {
    "golden": {"samples": 3, "random": False, "problem": "", "generated_problem": ""},
    "steps": [{"name": "a", "verified": {"samples": 3}}],
    "accuracy": None,
    "rtl": None,
    "targets": None,
    "rate": None,
    "device": None,
    "layers": [],
    "estimate": None,
    "synthesis": None,
}


def same(model, cfg):
    return model


def estimated(model, cfg):
    totals = {"interval_cycles": 1000, "latency_cycles": 2000, "fps": 2e5, "lut": 1, "bram18": 0, "dsp": 0}
    layers = [
        {"name": "a", "op_type": "MVAU_rtl", "lut": None},
        {"name": "b", "op_type": "Pool_hls", "lut": 4},
    ]
    (cfg.get_report_directory() / "estimates.json").write_text(json.dumps({"layers": layers, **totals}))
    return model


def run(
    tmp_path, steps, unverified=(), fps=None, device=None, golden=True, verify=True, strict=None, clock=None
):
    model = graphs.quant_mlp()
    goal = Goal(fps=fps, clock_ns=clock)
    if device is not None:
        goal = Goal("xczu7ev-ffvc1156-2-e", fps=fps, device=device)
    blueprint = Blueprint("flow.yaml", goal=goal, verify=Verify(unverified=unverified))
    given = {"verify_inputs": graphs.samples(model)} if golden else {}
    options = {"verify": verify, "strict": strict, "report": False, "use_cache": False}
    return build(model, blueprint, tmp_path / "out", steps=steps, **given, **options)


@pytest.mark.parametrize(
    ("steps", "options", "shortfalls"),
    [
        ([same], {}, []),
        ([same], {"verify": False}, [("golden", OFF)]),
        ([same], {"golden": False}, [("golden", RANDOM)]),
        ([same], {"unverified": ("same",)}, [("step", UNVERIFIED)]),
        ([same], {"fps": 5}, [("rate", NO_RATE)]),
        ([estimated], {"fps": 200_000}, [("figures", BOUND)]),
        ([estimated], {"device": SMALL}, [("device", BEYOND), ("figures", BOUND)]),
        ([estimated], {"fps": 200_001}, [("rate", SLOW), ("figures", BOUND)]),
    ],
)
def test_every_shortfall_is_said_everywhere(tmp_path, steps, options, shortfalls):
    result = run(tmp_path, steps, **options)
    assert [(shortfall.kind, shortfall.text) for shortfall in result.shortfalls] == shortfalls
    assert result.warnings == tuple(text for _, text in shortfalls)
    assert result.proven is not bool(shortfalls)
    many = f"{len(shortfalls)} shortfall{'' if len(shortfalls) == 1 else 's'}"
    line = f"proven     {f'no: {many}, named below' if shortfalls else 'yes'}"
    assert line in result.summary().splitlines()
    if not shortfalls:
        assert run(tmp_path, steps, strict=True, **options).proven
        return
    (tmp_path / "out" / "report.json").unlink()
    with pytest.raises(NotProvenError) as caught:
        run(tmp_path, steps, strict=True, **options)
    assert str(caught.value).splitlines() == [
        f"the build is not proven: {many}, and a strict build allows none; its output is written: {tmp_path}/out",
        *(f"  {text}" for _, text in shortfalls),
    ]
    assert exit_code(caught.value) == 3
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["strict"]
    assert [(entry["kind"], entry["text"]) for entry in report["shortfalls"]] == shortfalls
    assert caught.value.result.report == report
    assert not (tmp_path / "out" / "failed").exists()


def packed(model, cfg):
    """Leave what rtl_package does, as far as a README is asked for."""
    package = Path(cfg.output_dir) / "accelerator"
    package.mkdir()
    (package / "README.md").write_text("# finn_design\n\nA network.\n\n## Ports\n\nTwo.\n")
    (package / "manifest.json").write_text(json.dumps({"format": 1, "files": {"README.md": "of before"}}))
    return model


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {},
            "**Verified.** The model gave the golden outputs after each of its 2 steps, on 40 samples.\n",
        ),
        (
            {"unverified": ("same",)},
            "**Partly verified.** 1 of 2 steps gave what step same gives on 40 samples; not verified: same. "
            f"With --strict the exit code is 3.\n\n- {UNVERIFIED}; later steps are compared with its "
            "result\n",
        ),
        (
            {"verify": False, "fps": 5},
            "**Not verified.** No step was compared with golden outputs, so the model may compute something else than "
            f"before. With --strict the exit code is 3.\n\n- {OFF}\n- {NO_RATE}\n",
        ),
    ],
)
def test_the_readme_of_the_package_says_what_the_banner_says(tmp_path, options, said):
    result = run(tmp_path, [same, packed], **options)
    page = result.output / "accelerator" / "README.md"
    assert page.read_text() == f"# finn_design\n\nA network.\n\n## Proof\n\n{said}\n## Ports\n\nTwo.\n"
    manifest = json.loads((page.parent / "manifest.json").read_text())
    assert manifest == {"format": 1, "files": {"README.md": file_digest(page)}}


def test_the_blueprint_may_be_strict_and_the_argument_decides(tmp_path):
    model = graphs.quant_mlp()
    options = {"output": tmp_path / "out", "steps": [same], "report": False, "verify": False}
    with pytest.raises(NotProvenError):
        build(model, Blueprint("flow.yaml", strict=True), **options)
    assert not build(model, Blueprint("flow.yaml", strict=True), strict=False, **options).proven
    assert not build(model, Blueprint("flow.yaml"), **options).proven


def texts(**changes):
    return [(shortfall.kind, shortfall.text) for shortfall in shortfalls_of({**PROVEN, **changes})]


def test_a_measured_rate_below_the_target():
    rate = rate_of({"fps": 250_000}, {"interval_cycles": 1000}, 5.0, 200_001)
    assert texts(rate=rate) == [
        (
            "rate",
            "the measured rate of 200,000 frames per second (estimated 250,000) is below the target of 200,001; the "
            "report shows the slowest layers and the FIFOs",
        )
    ]
    assert texts(rate=rate_of({"fps": 100}, {"interval_cycles": 1000}, 5.0, 200_000)) == []


@pytest.mark.parametrize(
    ("before", "after", "held", "is_told"),
    [
        (1.0, 0.25, "labels", True),
        (0.25, 0.25, "labels", False),
        (1.0, 0.25, "expected", False),
        (None, 0, "labels", False),
    ],
)
def test_new_outputs_that_labels_alone_hold_are_no_worse_than_those_before(before, after, held, is_told):
    verified = {"reason": "", "reference": "", "changes_outputs": held, "accuracy": after}
    found = texts(
        steps=[{"name": "reordered", "verified": verified}, {"name": "fold", "verified": None}],
        accuracy=None if before is None else {"before": before},
    )
    told = (
        "step 'reordered' lowers the accuracy from 100.00 % to 25.00 %, by verify.changes_outputs.reordered.labels; to "
        "check the values that it gives, state them as verify.changes_outputs.reordered.expected"
    )
    assert found == ([("accuracy", told)] if is_told else [])


def test_circuits_targets_and_figures():
    frames = {"frames": 3, "mismatches": None}
    assert texts(rtl=frames) == [("circuit", "the circuit's frames were not compared with the model's")]
    assert texts(rtl={**frames, "mismatches": 0}) == []
    parts = {"whole": "a frame takes 2 h", "uncovered": ["the rate", "how frames follow"]}
    told = "the circuit was simulated in parts, not whole: a frame takes 2 h. Not covered: the rate; how frames follow"
    assert texts(rtl={"frames": None, "mismatches": None, "parts": parts}) == [("circuit", told)]
    results = [
        {"agrees": agrees, "rounding": why, "told": "tensor y differs", "reason": ""}
        for agrees, why in ((True, ""), (False, "a tie"), (False, ""), (None, ""))
    ]
    assert texts(targets={"named": False, "reason": "", "results": results}) == [
        ("targets", "targets disagree: tensor y differs")
    ]
    results = [{"target": "pynq", "agrees": None, "rounding": "", "reason": "there is no board"}]
    assert texts(targets={"named": False, "reason": "", "results": results}) == []
    assert texts(targets={"named": True, "reason": "", "results": results}) == [
        ("targets", "target 'pynq' was not compared: there is no board")
    ]
    assert texts(targets={"named": False, "reason": "it failed", "results": []}) == []
    assert texts(targets={"named": True, "reason": "it failed", "results": []}) == [
        ("targets", "targets were not compared: it failed")
    ]
    layers = [{"op_type": "MVAU_rtl", "lut": None}, {"op_type": "Pool_hls", "lut": 4}]
    assert texts(layers=layers, estimate={}) == [("figures", BOUND)]
    assert texts(layers=layers, estimate={}, synthesis={"lut": 5}) == []


@pytest.mark.parametrize(
    ("rate", "line"),
    [
        (rate_of({"fps": 2e5}, None, 5.0, None), "200,000 frames per second, estimated"),
        (
            rate_of({"fps": 2e5}, {"interval_cycles": None}, 5.0, 7),
            "200,000 frames per second, estimated; target 7: met",
        ),
        (
            rate_of({"fps": 2e5}, {"interval_cycles": 512.0}, 5.0, 400_000),
            "390,625 frames per second, measured (estimated 200,000); target 400,000: missed",
        ),
        (
            rate_of(None, {"interval_cycles": 512.0}, 5.0, 390_625),
            "390,625 frames per second, measured; target 390,625: met",
        ),
        (rate_of(None, None, 5.0, 7), "unknown; target 7"),
    ],
)
def test_the_line_about_the_rate(rate, line):
    assert rate_line(rate) == line


def test_no_rate():
    assert rate_of(None, None, 5.0, None) is None


def simulated(model, cfg):
    """Leave what a simulated circuit leaves: a frame every 512 cycles."""
    write_circuit(Path(cfg.output_dir))
    return estimated(model, cfg)


@pytest.mark.parametrize(
    ("fps", "unverified", "line", "shortfalls"),
    [
        (390_000, (), "the input model", []),
        (391_000, (), "the input model", ["rate"]),
        (390_000, ("same",), "the result of step 'same'", ["step"]),
        (390_000, ("simulated",), "the last model, which was not verified", ["step"]),
    ],
)
@pytest.mark.slow
def test_a_simulated_circuit_says_what_it_equals_and_how_fast_it_is(
    tmp_path, fps, unverified, line, shortfalls
):
    result = run(tmp_path, [same, simulated], fps=fps, unverified=unverified, clock=5.0)
    assert [shortfall.kind for shortfall in result.shortfalls] == shortfalls
    summary = result.summary().splitlines()
    met = "missed" if "rate" in shortfalls else "met"
    assert (
        f"rate       390,625 frames per second, measured (estimated 200,000); target {fps:,}: {met}"
        in summary
    )
    assert any(
        text.startswith(f"circuit    0 of 360 frames differ from {line}; with stalls 0 of 1,080")
        for text in summary
    )


def test_a_circuit_beside_a_model_that_was_not_verified(tmp_path):
    result = run(tmp_path, [simulated], verify=False)
    assert result.report["rtl"]["compared_with"] == "the last model, which was not verified"
