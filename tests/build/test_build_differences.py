"""What differs between two builds, by their reports."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.build.build_differences import SECTIONS, BuildDifference, differences
from tests.web.conftest import report  # noqa: F401  (a fixture)
from tests.web.pages import spoiled

REPORT = {
    "model": {"file": "a.onnx", "name": "a", "digest": "d1", "nodes": 5},
    "blueprint": {"file": "b.yaml", "target": {"part": "xc7z020", "clock_ns": 5.0, "fps": 1000}},
    "plugins": [{"type": "step", "framework": "brainsmith", "name": "fold", "version": "1"}],
    "steps": [
        {"framework": "brainsmith", "name": "fold", "seconds": 1.0},
        {"framework": "qonnx", "name": "Tidy", "seconds": 1.0},
        {"framework": "qonnx", "name": "Tidy", "seconds": 1.0},
    ],
    "layers": [
        {
            "name": "MVAU_0",
            "op_type": "MVAU_rtl",
            "cycles": 64,
            "lut": 500,
            "attributes": {"PE": 1, "SIMD": 2},
        },
        {"name": "Pool_0", "op_type": "Pool_rtl", "cycles": 4000, "lut": 50, "dsp": 0, "attributes": {}},
    ],
    "estimate": {"fps": 1000.0, "interval_cycles": 64, "lut": 550},
    "rtl": {"frames": 10, "mismatches": 0},
    "golden": {"samples": 10, "random": False},
    "shortfalls": [{"kind": "rate", "text": "too slow"}],
}


def changed(**more):
    return {**REPORT, **more}


def only(section, *found):
    return {name: list(found) if name == section else [] for name in SECTIONS}


def test_each_section_says_what_is_not_the_same():
    for other, expected in (
        (
            changed(model={**REPORT["model"], "digest": "d2"}),
            only("model", BuildDifference("digest", "d1", "d2")),
        ),
        (
            changed(blueprint={"target": {"part": "xc7z020", "clock_ns": 4.0}}),
            only(
                "blueprint",
                BuildDifference("target.clock_ns", 5.0, 4.0),
                BuildDifference("target.fps", 1000, None),
            ),
        ),
        (
            changed(
                blueprint={
                    **REPORT["blueprint"],
                    "stated": {
                        "target": {"fps": 1000, "fit": {"use": 0.8}},
                        "kernels": ["MVAU"],
                        "args": {"fold": {"passes": 2}},
                    },
                }
            ),
            only(
                "blueprint",
                BuildDifference("target.fit.use", None, 0.8),
                BuildDifference("kernels: MVAU", None, True),
                BuildDifference("args.fold.passes", None, 2),
            ),
        ),
        (
            changed(plugins=[{**REPORT["plugins"][0], "version": "2"}]),
            only("plugins", BuildDifference("step brainsmith:fold", "1", "2")),
        ),
        (changed(steps=REPORT["steps"][:2]), only("steps", BuildDifference("qonnx:Tidy (2)", 3, None))),
        (
            changed(layers=[{**REPORT["layers"][0], "lut": 600, "attributes": {"PE": 4, "SIMD": 2}}]),
            only(
                "layers",
                BuildDifference("MVAU_0: lut", 500, 600),
                BuildDifference("MVAU_0: PE", 1, 4),
                BuildDifference("Pool_0", "Pool_rtl, 4,000 cycles, 50 LUT", None),
            ),
        ),
        (
            changed(estimate={**REPORT["estimate"], "lut": 700}),
            only("figures", BuildDifference("lut", 550, 700)),
        ),
        (
            changed(rtl={"frames": 10, "mismatches": 3}, shortfalls=[]),
            only(
                "verification",
                BuildDifference("circuit mismatches", 0, 3),
                BuildDifference("shortfall: too slow", True, None),
            ),
        ),
    ):
        assert differences(REPORT, other) == expected


@given(st.sampled_from(sorted(REPORT)), st.sampled_from(sorted(REPORT)))
def test_it_is_the_same_both_ways_round_and_a_build_does_not_differ_from_itself(one, other):
    first = {key: value for key, value in REPORT.items() if key != one}
    second = {key: value for key, value in REPORT.items() if key != other}
    there, back = differences(first, second), differences(second, first)
    for section in SECTIONS:
        assert {(each.what, each.after, each.before) for each in there[section]} == set(back[section])
    assert not any(differences(first, first).values())


def test_a_field_of_another_kind_in_a_report_is_a_difference_and_no_more(report):  # noqa: F811
    for place, spoilt in spoiled(report):
        assert set(differences(report, spoilt)) == set(differences(spoilt, report)) == set(SECTIONS), place
