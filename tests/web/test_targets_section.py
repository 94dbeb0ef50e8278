"""The section of the targets: agreement, difference, and what could not be compared."""

from brainsmith.web.targets_section import targets_section
from tests.web.pages import Page

EQUAL = {
    "target": "numpy", "agrees": True, "outputs": 1, "inside": 8, "worst": 0.0, "first": None, "told": "", "notes": [],
    "reason": "",
}  # fmt: skip
FIRST = {"tensor": "t", "node": "MVAU_rtl 'm'", "samples": 1, "index": [0, 3], "error": 16.0}
TOLD = (
    "rtlsim first differs from reference at tensor 't' of node MVAU_rtl 'm': [0, 3] is 34, not 50; error 16"
)
FOUND = {"with": "reference", "after": "", "tolerance": 1e-6, "samples": 8, "reason": ""}


def text(found):
    parsed = Page(str(targets_section(found)))
    assert not parsed.problems
    return parsed.text


def test_targets_that_agree():
    found = text({**FOUND, "results": [EQUAL, {**EQUAL, "target": "onnxruntime", "worst": 2.5e-7}]})
    assert "The input model on 8 samples, each target beside reference" in found
    assert "numpy equal 1 8 0 –" in found
    assert "onnxruntime equal within the tolerance 1 8 2.5e-07 –" in found


def test_a_target_that_differs_names_the_first_tensor():
    wrong = {**EQUAL, "target": "rtlsim", "agrees": False, "worst": 16.0, "first": FIRST, "told": TOLD}
    found = text({**FOUND, "after": "hardware_inference", "results": [wrong]})
    assert "What step hardware_inference made of the model on 8 samples" in found
    assert f"rtlsim differs 1 8 16 {TOLD}" in found


def test_an_error_that_is_no_number_is_said():
    wrong = {**EQUAL, "agrees": False, "worst": None, "first": FIRST, "told": TOLD}
    assert "numpy differs 1 8 not a number" in text({**FOUND, "results": [wrong]})


def test_a_target_that_could_not_says_why():
    absent = {
        **EQUAL,
        "target": "<pynq>",
        "agrees": False,
        "outputs": 0,
        "inside": 0,
        "reason": "PYNQ is not installed",
    }
    assert "<pynq> not compared: PYNQ is not installed 0 0 – –" in text({**FOUND, "results": [absent]})


def test_nothing_compared_says_why():
    assert "The model was not compared on targets: nothing was verified" in text(None)
    failed = {**FOUND, "samples": 0, "reason": "target 'reference' failed", "results": []}
    assert text(failed) == "Targets The model was not compared on targets: target 'reference' failed"


def test_what_is_of_another_kind_is_shown_as_absent():
    assert "not compared" in text({"results": "many", "reason": 3})
    assert "differs" in text({"results": [{}, 7], "samples": "x"})
