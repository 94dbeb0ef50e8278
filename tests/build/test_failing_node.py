"""Which node a failure names: the one that was worked on, or none."""

import textwrap

import pytest
from onnx import helper

from brainsmith.build.failing_node import failing_node


def caught(function):
    try:
        function()
    except ValueError as error:
        return failing_node(error)
    raise AssertionError("nothing was raised")


def test_the_node_of_the_innermost_frame_that_has_one():
    def inner(node):
        raise ValueError("x")

    def outer():
        n = helper.make_node("Add", ["a"], ["b"], name="outer")
        assert n.name
        inner(helper.make_node("Mul", ["a"], ["b"], name="inner"))

    assert caught(outer) == " at node 'inner' (Mul)"


def test_an_operation_knows_its_node_and_a_nameless_one_is_named_by_its_output():
    class Operation:
        onnx_node = helper.make_node("Mul", ["a"], ["out"])

        def execute(self):
            raise ValueError("x")

    assert caught(Operation().execute) == " at node 'out' (Mul)"


def test_no_node():
    def plain():
        raise ValueError("x")

    assert caught(plain) == ""


FIRST = " at node 'Add_0' (Add)"
LAST = " at node 'Add_1' (Add)"
CASES = {
    "in the body of a loop": ("for node in nodes:\n    fail()", FIRST),
    "in a header below it": ("for node in nodes:\n    for item in fail(): pass", FIRST),
    "in a handler within it": ("for node in nodes:\n    try: 1/0\n    except ArithmeticError: fail()", FIRST),
    "behind a loop": ("for node in nodes: pass\nfail()", ""),
    "behind a loop, on its line's end": ("for n in nodes: n.name\nelse: fail()", ""),
    "in a loop's header": ("for node in fail(): pass", ""),
    "in the header of a second loop": ("for node in nodes: pass\nfor node in fail(): pass", ""),
    "in what a loop goes through": ("for node in (fail() for _ in nodes): pass", ""),
    "in what a loop goes through later": ("for node in (node if node is nodes[0] else fail() for node in nodes): 0", LAST),
    "in another loop": ("for node in nodes: pass\nfor other in nodes:\n    fail()", ""),
    "in an inner loop": ("for other in nodes:\n    for node in nodes:\n        fail()", FIRST),
    "behind an inner loop of the same name": ("for node in nodes:\n    for node in nodes: pass\n    fail()", ""),
    "behind an inner loop of another name": ("for node in nodes:\n    for other in nodes: pass\n    fail()", FIRST),
    "in a loop of several names": ("for at, node in enumerate(nodes):\n    fail()", FIRST),
    "in a comprehension": ("[fail(node) for node in nodes]", FIRST),
    "behind a comprehension": ("[node for node in nodes]\nfail()", ""),
    "behind an assignment that is read": ("node = nodes[1]\nfail(node)", LAST),
    "before it is read again": ("node = nodes[1]\nfail()\nnode.name", LAST),
    "after it is read for the last time": ("node = nodes[1]\nnode.name\nfail()", ""),
    "in what is assigned anew": ("node = nodes[1]\nnode.name\nnode = fail()\nnode.name", ""),
    "in what is assigned anew of itself": ("node = nodes[1]\nnode = fail(node)\nnode.name", LAST),
    "in what a branch assigns": ("node = nodes[1]\nif nodes:\n    node = fail()\n    node.name", ""),
    "in a while": ("left = list(nodes)\nwhile left:\n    node = left.pop()\n    fail(node)", LAST),
    "in a while's test": ("left = list(nodes)\nwhile left and (node := left.pop()):\n    fail(node)", LAST),
    "behind a branch that assigns": ("for node in nodes:\n    if nodes:\n        node = nodes[1]\n    fail(node)", ""),
    "in a function within a loop": ("for node in nodes:\n    def inner(): return node, fail()\n    inner()", FIRST),
    "in a function behind a loop": ("def inner(): return node, fail()\nfor node in nodes: pass\ninner()", ""),
    "in the second of two inner loops": (
        "for node in nodes:\n    for node in nodes: pass\n    for node in nodes:\n        fail()", FIRST,
    ),
    "in a decorated function": ("@lambda f: f\ndef inner(node): fail()\ninner(nodes[1])", LAST),
    "in a function that binds the name of another": (
        "node = nodes[0]\ndef inner():\n    nonlocal node\n    node = nodes[1]\n    fail(node)\ninner()\nnode.name", LAST,
    ),
    "in a lambda": ("(lambda node: fail())(nodes[1])", LAST),
}  # fmt: skip


@pytest.mark.parametrize(("text", "named"), CASES.values(), ids=CASES)
def test_a_node_is_named_where_it_is_what_the_code_works_on(tmp_path, text, named):
    file = tmp_path / "step.py"
    file.write_text(f"def step(nodes, fail):\n{textwrap.indent(text, '    ')}\n")
    made = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    nodes = [helper.make_node("Add", ["a"], ["b"], name=f"Add_{at}") for at in range(2)]

    def fail(*_):
        raise ValueError("x")

    assert caught(lambda: made["step"](nodes, fail)) == named


def test_code_whose_source_is_gone_names_no_node():
    made = {}
    exec("def step(node): int(node.name)", made)
    assert caught(lambda: made["step"](helper.make_node("Add", ["a"], ["b"], name="Add_0"))) == ""
