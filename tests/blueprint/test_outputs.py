"""How far a build goes: which steps an output leaves out and adds, and which orders cannot work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.blueprint.arrangement import arrange
from brainsmith.blueprint.build_step import BuildStep
from brainsmith.blueprint.outputs import OUTPUTS, RTL_STEPS, TAKES
from brainsmith.blueprint.plain import from_plain, to_plain
from brainsmith.blueprint.schema import DEFAULT_STEPS

FRONT = "cleanup, fold, estimate"
ORDER = "The order is rtl_codegen, rtl_stitch, rtl_size_fifos, rtl_simulate, rtl_synthesise, rtl_package"

before = st.lists(st.sampled_from(["cleanup", "fold", "mine"]), max_size=3)
between = st.lists(st.sampled_from(["mine", "estimate"]), max_size=2)
outputs = st.none() | st.sampled_from(OUTPUTS)


@st.composite
def pipelines(draw):
    """Draw the names of a pipeline that can work: RTL steps in their order, and steps between that only look."""
    names = draw(before)
    for step in RTL_STEPS:
        if draw(st.booleans()):
            names += [step, *draw(between)]
    return names


def entries(names):
    ours = ("mine", "look")
    return [BuildStep(name, "project" if name in ours else "brainsmith", "step") for name in names]


def run(names, output):
    """Return the output, and the names of what runs."""
    found = arrange(entries(names), output)
    assert found.problems == ()
    return found.output, [step if isinstance(step, str) else step.name for step in found.order]


@given(pipelines(), st.sampled_from(OUTPUTS))
def test_an_output_takes_exactly_its_steps_in_order_and_moves_nothing(names, output):
    reached, steps = run(names, output)
    assert [step for step in steps if step in RTL_STEPS] == list(TAKES[reached])
    assert [step for step in steps if step not in RTL_STEPS] == [
        name for name in names if name not in RTL_STEPS
    ]
    kept = [name for name in names if name not in RTL_STEPS or name in TAKES[reached]]
    rest = iter(steps)
    assert all(name in rest for name in kept)  # a subsequence


@given(pipelines(), outputs)
def test_what_was_arranged_stays_as_it_is(names, output):
    reached, steps = run(names, output)
    assert run(steps, output) == (reached, steps)


@given(pipelines())
def test_without_an_output_a_list_ends_where_it_does(names):
    reached, steps = run(names, None)
    rtl = [step for step in steps if step in RTL_STEPS]
    named = [name for name in names if name in RTL_STEPS]
    assert rtl[-1:] == named[-1:]
    assert rtl == list(TAKES[reached][: len(rtl)])
    assert run(names, reached)[1][: len(steps)] == steps or len(rtl) < len(TAKES[reached])


@pytest.mark.parametrize(
    ("names", "reached"),
    [
        (["fold"], "estimates"),
        (["rtl_codegen"], "rtl"),
        (["rtl_package"], "rtl"),
        (["rtl_simulate"], "simulated"),
        (["rtl_simulate", "rtl_synthesise"], "synthesised"),
    ],
)
def test_without_an_output_it_is_the_furthest_that_the_steps_name(names, reached):
    assert run(names, None)[0] == reached


def plan(files, registry, text):
    selection = files.resolve(text, registry)
    return selection.output, [use.record.qualified if use.record else use.name for use in selection.steps]


def short(names):
    return [name.removeprefix("brainsmith:") for name in names]


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_default_steps_go_as_far_as_the_output(files, registry, output):
    reached, steps = plan(files, registry, f"output: {output}")
    assert (reached, short(steps)) == (output, [*DEFAULT_STEPS, *TAKES[output]])


def test_missing_steps_come_after_the_last_other_step(files, registry):
    _, steps = plan(files, registry, "steps: [cleanup, fold, rtl_codegen, estimate]\noutput: rtl")
    assert short(steps) == [
        "cleanup", "fold", "rtl_codegen", "estimate", "rtl_stitch", "rtl_size_fifos", "rtl_package",
    ]  # fmt: skip


def test_missing_steps_come_before_those_that_need_them(files, registry):
    reached, steps = plan(files, registry, "steps: [cleanup, rtl_simulate, acme-norms:look]")
    assert reached == "simulated"
    assert short(steps) == [
        "cleanup", "rtl_codegen", "rtl_stitch", "rtl_size_fifos", "rtl_simulate", "acme-norms:look",
    ]  # fmt: skip


def test_steps_beyond_the_output_are_left_out_and_named(files, registry):
    text = (
        "steps: [cleanup, rtl_codegen, rtl_simulate, rtl_synthesise, rtl_package]\n"
        "verify: {tolerance: {rtl_simulate: 0.5}}\noutput: estimates"
    )
    selection = files.resolve(text, registry)
    assert [use.name for use in selection.steps] == ["cleanup"]
    assert [use.name for use in selection.left_out] == list(RTL_STEPS[:1] + RTL_STEPS[3:])
    assert [record.name for record in selection.records] == ["cleanup"]
    assert from_plain(to_plain(selection), registry) == selection


def test_a_step_of_another_framework_counts_as_the_one_whose_name_it_has(files, registry):
    text = (
        f"steps: [{FRONT}, {{step: acme-norms:rtl_synthesise, args: {{tool: yosys}}}}]\noutput: synthesised"
    )
    selection = files.resolve(text, registry)
    assert [use.record.qualified for use in selection.steps[-3:]] == [
        "brainsmith:rtl_simulate", "acme-norms:rtl_synthesise", "brainsmith:rtl_package",
    ]  # fmt: skip
    assert selection.steps[-2].args == {"tool": "yosys"}


def test_an_output_in_place_of_the_files(files, registry):
    from brainsmith.blueprint.resolve import check_blueprint

    path = files.write("hw_compiler: {steps: [cleanup, rtl_codegen], output: simulated}")
    blueprint, selection = check_blueprint(path, registry, output="estimates")
    assert (blueprint.output, selection.output, len(selection.steps)) == ("estimates", "estimates", 1)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            "[cleanup, rtl_stitch, rtl_codegen]",
            "2:32: step 'rtl_codegen' comes after 'rtl_stitch', which connects the layers that rtl_codegen "
            f"generates. {ORDER}",
        ),
        (
            "[rtl_package, rtl_simulate]",
            f"2:24: step 'rtl_simulate' comes after 'rtl_package', which packs what all the others make. {ORDER}",
        ),
        (
            "[rtl_stitch, fold, rtl_stitch]",
            "2:23: step 'fold' comes after 'rtl_stitch' and changes the model, so the generated files would "
            "not match it. Put it before 'rtl_stitch'\n"
            "x.yaml:2:29: step 'rtl_stitch' is listed twice: first at x.yaml:2:11",
        ),
        (
            "[rtl_synthesise, acme-norms:rtl_synthesise]",
            "2:27: step 'acme-norms:rtl_synthesise' replaces 'rtl_synthesise', which is listed too: x.yaml:2:11",
        ),
        (
            "[rtl_codegen, {transform: MergeChains}]",
            "2:36: transform 'MergeChains' comes after 'rtl_codegen' and changes the model, so the "
            "generated files would not match it. Put it before 'rtl_codegen'",
        ),
        (
            "[rtl_codegen, step_tidy_up, post_hw]",
            "2:24: step 'finn:step_tidy_up' comes after 'rtl_codegen' and changes the model, so the "
            "generated files would not match it. Put it before 'rtl_codegen'\n"
            "x.yaml:2:38: the list 'post_hw' comes after 'rtl_codegen' and changes the model, so the "
            "generated files would not match it. Put it before 'rtl_codegen'",
        ),
    ],
)
@pytest.mark.parametrize("output", ["", "\noutput: estimates"])
def test_orders_that_cannot_work(files, registry, steps, expected, output):
    assert "\n".join(files.resolve_errors(f"steps: {steps}{output}", registry)) == f"x.yaml:{expected}"


def test_a_step_that_is_misspelt_is_said_once_and_one_that_is_missing_at_the_output(files, registry):
    first, *_ = files.resolve_errors("steps: [rtl_codgen]\noutput: rtl", registry)
    assert first.startswith("x.yaml:2:11: no step or group named 'rtl_codgen'. Did you mean 'rtl_codegen'?")


def test_an_optional_step_that_is_absent_is_missing_if_the_output_takes_it(files):
    from brainsmith.plugin.plugin_registry import Registry

    lines = files.resolve_errors("steps: [~rtl_codegen, rtl_stitch]\noutput: rtl", Registry())
    places = [line.partition(": no step named")[0] for line in lines if "no step named" in line]
    assert places == ["x.yaml:2:25", "x.yaml:3:3", "x.yaml:3:3", "x.yaml:3:3"]
