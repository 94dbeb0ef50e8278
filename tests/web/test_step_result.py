"""The result of a step: what a report holds of it is what is read of it."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.web.step_result import StepResult, Verified, read_steps

words, amounts = st.text(max_size=5), st.integers(0, 999)
figures = st.none() | st.floats(0, 1e6)
checks = st.builds(
    Verified, amounts, amounts, figures, words, st.lists(words, max_size=2).map(tuple), figures,
    st.none() | amounts, words, target=words, changes_outputs=st.sampled_from(["", "expected", "labels"]),
    generated=amounts,
)  # fmt: skip
results = st.builds(
    StepResult, st.text(min_size=1, max_size=5), words, figures, st.booleans(), words, st.none() | checks,
    st.lists(words, max_size=2).map(tuple), figures,
)  # fmt: skip


@given(st.lists(results, max_size=3))
def test_what_a_report_holds_is_what_is_read(steps):
    held = [step.to_plain() for step in steps]
    read = read_steps({"steps": held})
    assert [step.to_plain() for step in read] == held
    assert [step.compared is None for step in read] == [step.compared is None for step in steps]


def test_the_last_step_failed_if_the_error_names_it():
    steps = [{"name": "fold"}, {"name": "estimate"}, {"name": "fold"}]
    read = read_steps({"steps": steps, "error": {"step": "fold", "message": "no"}})
    assert [step.failed for step in read] == [False, False, True]
    assert not any(step.failed for step in read_steps({"steps": steps, "error": {"step": "estimate"}}))
