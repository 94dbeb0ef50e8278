"""The verdict: failed, mismatches, not verified and why, partly, verified."""

import pytest

from brainsmith.web.content import read_steps
from brainsmith.web.verdict import describe, judge


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
