"""Changes to the order of steps: what they make of it, over which order, and what cannot be changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.blueprint.composition.step_changes import changed_steps
from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import DEFAULT_STEPS

import yaml  # isort: skip

ORDER = ["a", "b", "c", "d"]


def after(changes, order=ORDER):
    """Return the names of an order after changes, and what is wrong with these."""
    doc = Document("x.yaml")
    steps = yaml.compose(yaml.safe_dump(order)) if order is not None else None
    node = changed_steps(doc, steps, yaml.compose(changes))
    return [doc.plain(item, "x") for item in node.value], [problem.text for problem in doc.problems]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ("[{insert: x, after: b}]", ["a", "b", "x", "c", "d"]),
        ("[{insert: x, before: B}]", ["a", "x", "b", "c", "d"]),
        ("[{insert: [x, {step: y}], at: start}]", ["x", {"step": "y"}, "a", "b", "c", "d"]),
        ("[{insert: x, at: end}]", ["a", "b", "c", "d", "x"]),
        ("[{replace: b, with: x}]", ["a", "x", "c", "d"]),
        ("[{replace: b, with: [x, y]}]", ["a", "x", "y", "c", "d"]),
        ("[{remove: b}]", ["a", "c", "d"]),
        ("[{remove: [b, d, ~nope]}]", ["a", "c"]),
        ("[{wrap: b, with: [x, y]}]", ["a", "x", "b", "y", "c", "d"]),
        ("[{wrap: [b, c], with: [[x, z], y]}]", ["a", "x", "z", "b", "c", "y", "d"]),
        ("[{insert: x, after: ~nope}]", ORDER),
        ("[{insert: x, after: b}, {insert: y, after: x}]", ["a", "b", "x", "y", "c", "d"]),
        ("[{insert: x, after: rtl_stitch}]", [*ORDER, "rtl_stitch", "x"]),
        ("[{insert: x, before: rtl_stitch}, {insert: y, before: rtl_codegen}]",
         [*ORDER, "x", "y", "rtl_codegen", "rtl_stitch"]),
        ("[]", ORDER),
    ],
)  # fmt: skip
def test_changes_are_made_one_after_the_other(changes, expected):
    assert after(changes) == (expected, [])


def test_a_step_is_found_by_what_its_entry_names():
    order = [
        {"step": "finn:step_tidy_up"},
        {"transform": "qonnx:GiveUniqueNodeNames", "args": {"prefix": "a"}},
        "~c",
    ]
    assert after("[{remove: step_tidy_up}, {remove: qonnx:giveuniquenodenames}, {remove: c}]", order) == (
        [],
        [],
    )
    assert after("[{remove: qonnx:step_tidy_up}]", order)[0] == order


def test_the_default_order_is_changed_where_there_is_no_other():
    names, problems = after("[{remove: [pre_hw, transforms, post_hw]}]", None)
    assert names == [name for name in DEFAULT_STEPS if name not in ("pre_hw", "transforms", "post_hw")]
    assert problems == []


LIST = "a mapping with one of the keys insert, replace, remove, wrap"
WRAP = (
    "wrap names a step, or the first and the last of several, and `with` lists what comes before and what after: "
    "{wrap: fold, with: [open, close]}"
)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ("[x]", f"change_steps[0] must be {LIST}, not 'x'"),
        ("[{after: b}]", f"change_steps[0] must be {LIST}, not a mapping"),
        ("[{remove: b, insert: x}]", f"change_steps[0] must be {LIST}, not insert and remove together"),
        ("[{inserted: x, after: b}]", "unknown key 'inserted' in change_steps[0]. Did you mean 'insert'?"),
        ("[{insert: x}]", "change_steps[0]: insert needs after or before or at, and nothing else"),
        ("[{insert: x, after: b, before: c}]", "change_steps[0]: insert needs after or before or at, and nothing else"),
        ("[{remove: b, with: c}]", "change_steps[0]: remove takes nothing else"),
        ("[{insert: x, at: middle}]", "change_steps[0].at must be start or end, not 'middle'"),
        ("[{insert: x, after: bb}]",
         "change_steps[0].after names 'bb', which is not in the order of steps. Did you mean 'b'?"),
        ("[{remove: nope}]", "change_steps[0].remove names 'nope', which is not in the order of steps. It is a, b, c, d."),
        ("[{insert: b, at: end}, {remove: b}]",
         "change_steps[1].remove: 'b' stands 2 times in the order: write steps instead"),
        ("[{wrap: b, with: [x]}]", f"change_steps[0]: {WRAP}"),
        ("[{wrap: [a, b, c], with: [x, y]}]", f"change_steps[0]: {WRAP}"),
        ("[{wrap: [c, b], with: [x, y]}]", "change_steps[0].wrap names the last step before the first one"),
        ("[{insert: x, after: [b]}]",
         "change_steps[0].after must be a name (Streamline, finn:Streamline, or ~Streamline if it is optional), not "
         "a list"),
    ],
)  # fmt: skip
def test_pitfall_16_a_change_that_cannot_be_made_is_an_error(changes, problem):
    assert after(changes)[1] == [problem]


def test_changes_of_several_files_add_up_and_a_new_order_drops_those_before(files):
    files.write("hw_compiler: {change_steps: [{remove: fold}, {insert: x, after: cleanup}]}", "base.yaml")
    mine = files.write(
        "extends: base.yaml\nhw_compiler: {change_steps: [{insert: y, after: x}]}", "mine.yaml"
    )
    names = [entry.name.name for entry in load_blueprint(mine).steps]
    assert names == [
        "cleanup",
        "x",
        "y",
        *(name for name in DEFAULT_STEPS if name not in ("cleanup", "fold")),
    ]
    new = files.write(
        "extends: mine.yaml\nhw_compiler: {steps: [a, b], change_steps: [{remove: a}]}", "new.yaml"
    )
    assert [entry.name.name for entry in load_blueprint(new).steps] == ["b"]


@given(
    st.lists(st.sampled_from("abcd"), unique=True, min_size=1),
    st.sampled_from("abcd"),
    st.sampled_from("wxyz"),
)
def test_what_was_inserted_and_removed_leaves_the_order_as_it_was(order, anchor, name):
    changes = f"[{{insert: {name}, after: ~{anchor}}}, {{remove: ~{name}}}]"
    assert after(changes, order) == (order, [])
