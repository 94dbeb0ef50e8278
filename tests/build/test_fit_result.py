"""What a build says of foldings that were chosen for a device."""

import pytest

from brainsmith.build.fit_result import fit_line, fit_shortfalls

FIT = {
    "device": "xc7z020",
    "use": 0.8,
    "goal": "fps",
    "interval_cycles": 100,
    "interval_bound": 100,
    "latency_cycles": None,
    "latency_bound": None,
    "gap": 0.0,
    "proven": True,
    "seconds": 0.31,
    "options": 1200,
    "limits": {"lut": 42560, "ff": 85120, "bram18": 224, "uram": 0, "dsp": 176},
}
UNPROVEN = {**FIT, "proven": False, "gap": 0.05, "interval_bound": 90}


def device(**used):
    there = {"lut": 53200, "ff": 106400, "bram18": 280, "uram": 0, "dsp": 220}
    resources = {name: {"available": there[name], "used": used.get(name)} for name in there}
    return {"name": "xc7z020", "source": "synthesis", "resources": resources}


@pytest.mark.parametrize(
    ("fit", "line"),
    [
        (
            FIT,
            "the smallest interval within 80 % of xc7z020, proven in 0.3 s (1,200 foldings of the layers)",
        ),
        (
            {**FIT, "goal": "resources", "use": 1.0},
            "the smallest circuit within 100 % of xc7z020, proven in 0.3 s (1,200 foldings of the layers)",
        ),
        (
            {**FIT, "goal": "latency"},
            "the smallest latency within 80 % of xc7z020, proven in 0.3 s (1,200 foldings of the layers)",
        ),
        (
            UNPROVEN,
            "the smallest interval within 80 % of xc7z020, not proven: another choice may cost 5.0 % less; no interval is "
            "below 90 cycles, and this is 100",
        ),
    ],
)
def test_the_summary_says_what_is_best_and_whether_that_is_proven(fit, line):
    assert fit_line(fit) == line


def test_without_a_fit_there_is_nothing_to_say():
    assert list(fit_shortfalls(None, device(lut=53200))) == []


def test_foldings_whose_fifos_do_not_fit_beside_them_are_a_shortfall():
    estimated = device(lut=42561) | {"source": "estimate"}
    assert list(fit_shortfalls(FIT, estimated)) == [
        "the circuit takes more than 80 % of xc7z020, by the estimate: LUT (42,561 of 42,560); no foldings were found that "
        "leave room for their FIFOs: raise target.fit.use, or ask for less"
    ]


def test_what_fits_its_share_has_no_shortfall():
    assert list(fit_shortfalls(FIT, device(lut=42560, bram18=3, dsp=176))) == []


def test_more_than_its_share_is_a_shortfall():
    (said,) = fit_shortfalls(FIT, device(lut=42561, dsp=177))
    assert said.startswith("the circuit takes more than 80")
    assert said.endswith(
        "of xc7z020, by the synthesis: LUT (42,561 of 42,560), DSP (177 of 176); lower target.fit.use to make room for "
        "what was not foreseen"
    )


def test_more_than_there_is_is_left_to_the_device():
    assert list(fit_shortfalls(FIT, device(lut=60000))) == []


def test_what_is_not_proven_is_a_shortfall():
    (said,) = fit_shortfalls(UNPROVEN, None)
    assert said.startswith("the foldings are not proven to be the best ones: another choice may cost ")


def test_a_latency_that_is_not_proven_says_what_is():
    latency = {
        **FIT,
        "goal": "latency",
        "proven": False,
        "gap": 0.5,
        "latency_cycles": 900,
        "latency_bound": 850,
    }
    assert list(fit_shortfalls(latency, None)) == [
        "the foldings are not proven to be the best ones: another choice may cost 50.0 % less; no latency is below 850 "
        "cycles, and this is 900"
    ]
