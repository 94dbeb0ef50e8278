"""The verdict: failed, mismatches, not verified and why, partly, verified."""

import pytest

from brainsmith.web.step_result import read_steps
from brainsmith.web.verdict import Verdict, describe, judge


def verdict(report):
    found = judge(report, read_steps(report))
    return found.kind, found.title, found.sentence


def step(name, **verified):
    return {"name": name, "verified": verified or None}


def test_every_step_verified():
    steps = [step("a", samples=360, mismatches=0, max_error=0), step("b", samples=32, mismatches=0)]
    sentence = "The model gave the golden outputs after each of its 2 steps, on 32 to 360 samples."
    assert verdict({"steps": steps}) == ("good", "Verified", sentence)


def test_a_mismatch_names_the_first_step_the_tensor_and_the_error():
    steps = [
        step("a", samples=32, mismatches=0),
        step("b", samples=32, mismatches=3, max_error=0.5, tensor="out0"),
        step("c", samples=32, mismatches=3, max_error=0.5),
    ]
    sentence = (
        "The model's function changed at step b: 3 of 32 samples differ in out0; the largest error is 0.5. "
        "1 later step differs too."
    )
    assert verdict({"steps": steps}) == ("bad", "Mismatches", sentence)


def test_a_stated_approximation_is_part_of_the_verdict():
    steps = [
        step("a", samples=32, mismatches=0, max_error=0),
        step("b", samples=360, mismatches=0, max_error=0.5, changed=2),
        step("c", samples=32, mismatches=0, max_error=0, reference="b"),
    ]
    sentence = (
        "The model gave the golden outputs after each of its 3 steps but 1 that approximates, on 32 to 360 samples. "
        "Step b approximates, as the blueprint states: it puts 2 of 360 samples into another class, and its largest "
        "error is 0.5; what follows is compared with its results."
    )
    assert verdict({"steps": steps}) == ("good", "Verified", sentence)
    assert describe(read_steps({"steps": steps})[1]) == "approximates: 2 of 360 samples in another class"


def test_no_step_verified_and_why():
    reason = "verification is off"
    steps = [step("a", samples=0, reason=reason), step("b", samples=0, reason=reason)]
    assert verdict({"steps": steps}) == (
        "open",
        "Not verified",
        f"No step was compared with golden outputs: {reason}.",
    )
    assert verdict({"steps": [step("a")]})[2] == (
        "No step was compared with golden outputs, so the model may compute something else than before."
    )
    assert verdict({"steps": []})[2] == "No step ran, so there is nothing to compare."


def test_some_steps_not_verified_are_named():
    steps = [step("a", samples=1, mismatches=0), *(step(name) for name in "bcdef")]
    sentence = "1 of 6 steps gave the golden outputs on 1 sample; not verified: b, c, d and 2 more."
    assert verdict({"steps": steps}) == ("partial", "Partly verified", sentence)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        ({"error": "it broke"}, "it broke"),
        ({"error": {"step": "fold", "message": "no PE divides 7"}}, "Step fold failed: no PE divides 7"),
        ({"error": {"step": "fold", "message": "fold: no PE divides 7"}}, "fold: no PE divides 7"),
    ],
)
def test_a_failed_build_outweighs_its_verified_steps(failure, sentence):
    steps = [step("a", samples=32, mismatches=0)]
    assert verdict({"steps": steps, **failure}) == ("bad", "Build failed", sentence)


@pytest.mark.parametrize(
    ("verified", "words"),
    [
        ({"samples": 1, "mismatches": 0}, "1 sample equal"),
        ({"samples": 32, "mismatches": 0}, "32 samples equal"),
        ({"mismatches": 0}, "equal"),
        ({"samples": 32, "mismatches": 1}, "1 of 32 samples differs"),
        ({"samples": 0, "reason": "it has no inputs"}, "it has no inputs"),
        (None, "not verified"),
    ],
)
def test_describe(verified, words):
    (found,) = read_steps({"steps": [{"name": "a", "verified": verified}]})
    assert describe(found) == words


POINTS = [
    {"kind": "rate", "text": "the rate is missed"},
    {"kind": "figures", "text": "the LUTs are a lower bound"},
]
TEXTS = ("the rate is missed", "the LUTs are a lower bound")


@pytest.mark.parametrize(
    ("strict", "outcome", "ends"),
    [
        (False, ("partial", "Verified, with 2 shortfalls"), "With --strict the exit code is 3."),
        (True, ("bad", "Verified, with 2 shortfalls"), "The build is strict: it ended with exit code 3."),
    ],
)
def test_a_shortfall_is_never_good_and_says_the_exit_code(strict, outcome, ends):
    steps = [step("a", samples=3, mismatches=0)]
    report = {"steps": steps, "strict": strict, "shortfalls": POINTS, "rtl": {"frames": None}}
    assert judge({**report, "rtl": None}, read_steps(report)) == Verdict(
        *outcome, f"The model gave the golden outputs after its only step, on 3 samples. {ends}", TEXTS
    )
    assert " The circuit was not simulated. " in verdict(report)[2]
    assert verdict({**report, "steps": [step("a")]})[1] == "Not verified"
    assert verdict({**report, "shortfalls": [], "rtl": None})[:2] == ("good", "Verified")


def test_random_inputs_are_not_golden():
    steps = [step("a", samples=8, mismatches=0)]
    assert verdict({"steps": steps, "golden": {"random": True}}) == (
        "partial",
        "Verified with random inputs only",
        "The model's outputs stayed the same after its only step, on 8 samples made up at random.",
    )


def test_what_follows_an_unverified_step_is_not_golden():
    steps = [
        step("a", samples=32, mismatches=0),
        step("cut", samples=0, reason="the blueprint names it"),
        step("b", samples=32, mismatches=0, reference="cut"),
        step("c", samples=360, mismatches=0, reference="cut"),
    ]
    circuit = {"frames": 360, "mismatches": 0, "compared_with": "the result of step 'cut'"}
    assert verdict({"steps": steps, "rtl": circuit}) == (
        "partial",
        "Partly verified",
        "1 of 4 steps gave the golden outputs on 32 samples; 2 of 4 steps gave what step cut gives on 32 to 360 samples; "
        "not verified: cut. The circuit equals the result of step 'cut', bit for bit, on 360 frames.",
    )
    assert verdict({"steps": steps[1:3]})[2] == (
        "1 of 2 steps gave what step cut gives on 32 samples; not verified: cut."
    )


@pytest.mark.parametrize(
    ("known", "words", "sentence"),
    [
        ("expected", "as expected", "they are what it expects"),
        ("labels", "with labels of their own", "it has labels of these, no values"),
    ],
)
def test_other_outputs_that_the_blueprint_states_are_part_of_the_verdict(known, words, sentence):
    steps = [
        step("cut", samples=40, mismatches=0, changes_outputs=known),
        step("b", samples=40, mismatches=0),
    ]
    assert verdict({"steps": steps}) == (
        "good",
        "Verified",
        "The model gave the golden outputs after each of its 2 steps but 1 that gives others, on 40 samples. Step cut "
        f"gives other outputs, as the blueprint states, and {sentence}; what follows is compared with its results.",
    )
    assert describe(read_steps({"steps": steps})[0]) == f"other outputs, {words}, on 40 samples"
