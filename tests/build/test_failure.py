from onnx import helper

from brainsmith.build.failure import failing_node


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
