"""Native ops: nothing is copied that need not be, and everything that can be wrong with a call has its message."""

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith import ops
from brainsmith.errors import GradientError, OpError
from brainsmith.native import open_library
from tests.native.building import build_plugin

X = np.array([1, 2, 3], np.float32)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Open a plugin with given parts once; all are closed at the end."""
    opened = {}

    def open_with(**parts):
        key = tuple(sorted(parts.items()))
        if key not in opened:
            folder = tmp_path_factory.mktemp("native")
            opened[key] = open_library(build_plugin(folder, **parts))
        return opened[key]

    yield open_with
    for library in opened.values():
        library.close()


@pytest.fixture
def first(libraries):
    """Return the first op of a plugin with given parts."""
    return lambda **parts: libraries(**parts).ops[0]


def told(op, x):
    """Return what the plugin was given: addresses of input and output, and numbers; and the output itself."""
    y = op.forward(x)
    return y[:2].view(np.int64).tolist(), y[2:].tolist(), y


TELLS = {"FORWARD": "tells", "SHAPE": "shape_of_16", "DTYPE": "dtype_double"}


@pytest.mark.parametrize("isolation", [None, "process"])
class TestInBothProcesses:
    def test_a_text_of_a_call_that_succeeded_is_not_lent_to_a_later_failure(self, tmp_path, isolation):
        library = open_library(build_plugin(tmp_path, FORWARD="warns_once"), isolation=isolation)
        assert library.ops[0].forward(X).tolist() == [2, 4, 6]
        with pytest.raises(OpError) as caught:
            library.ops[0].forward(X)
        assert str(caught.value) == "Operation 'times' failed on shapes (3,): it gave no message"
        library.close()

    def test_an_output_without_elements_may_be_too_long(self, tmp_path, isolation):
        library = open_library(build_plugin(tmp_path, SHAPE="shape_empty_but_long"), isolation=isolation)
        with pytest.raises(OpError) as caught:
            library.ops[0].forward(X)
        assert str(caught.value) == (
            "Operation 'times' promises outputs of shape (0, 9223372036854775807, 9223372036854775807), "
            "which this machine cannot hold"
        )
        library.close()

    @pytest.mark.parametrize("what", ["no_gradient", "half_a_gradient"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_gradient_that_is_not_written_is_none(self, tmp_path, isolation, what, dtype):
        library = open_library(build_plugin(tmp_path, BACKWARD=what), isolation=isolation)
        (op, *_), x = library.ops, X.astype(dtype)
        with pytest.raises(GradientError) as caught:
            op.backward(x, [x], 2 * x)
        assert str(caught.value) == (
            "backward of operation 'times' did not write the gradient of input 0, or not all of it; "
            "an input without one is to be in not_differentiable"
        )
        assert op.backward(x[:0], [x[:0]], x[:0])[0].shape == (0,)
        library.close()


class TestMemory:
    @pytest.mark.slow
    def test_contiguous_arrays_are_not_copied(self, first):
        op = first(**TELLS)
        x = np.zeros((2, 3, 4), np.float32)
        addresses, numbers, y = told(op, x)
        assert addresses == [x.ctypes.data, y.ctypes.data]
        assert numbers[:7] == [1, 3, 24, 1, 2, 3, 4]

    def test_nor_are_those_of_a_call_by_name(self, first):
        op = first(**TELLS)
        ops.register_custom_op(op)
        x = np.zeros(5, np.float64)
        y = ops.execute_custom_op("times", [x])
        assert y[:2].view(np.int64).tolist() == [x.ctypes.data, y.ctypes.data]
        ops.unregister_custom_op("times")

    def test_a_read_only_array_is_not_copied(self, first):
        x = np.arange(4.0)
        x.flags.writeable = False
        addresses, numbers, _ = told(first(**TELLS), x)
        assert addresses[0] == x.ctypes.data
        assert numbers[:5] == [2, 1, 4, 1, 4]

    @pytest.mark.slow
    def test_others_are_made_contiguous(self, first):
        op = first()
        wide = np.arange(24, dtype=np.float32).reshape(4, 6)
        for x in (wide[:, ::2], wide.T, wide[::-1], wide.astype(">f4"), unaligned(wide)):
            np.testing.assert_array_equal(op.forward(x), 2 * x)
            np.testing.assert_array_equal(op.call([x], {}), 2 * x)
            assert op.forward(x).dtype == np.float32

    def test_a_scalar_array_and_an_empty_one(self, first):
        op = first()
        assert op.forward(np.array(3.0)) == 6.0
        assert op.forward(np.array(3.0)).shape == ()
        assert op.forward(np.zeros((0, 4), np.float32)).shape == (0, 4)
        _, numbers, _ = told(first(**TELLS), np.array(1.0))
        assert numbers[:4] == [2, 0, 1, 1]

    def test_results_can_be_written_to_given_arrays(self, first):
        op, y = first(), np.zeros(3, np.float32)
        op.forward_into([X], [y])
        assert y.tolist() == [2, 4, 6]

    @pytest.mark.parametrize(
        ("y", "what"),
        [
            (np.zeros(4, np.float32), "(4,) of float32"),
            (np.zeros(3), "(3,) of float64"),
            (np.zeros(6, np.float32)[::2], "(3,) of float32"),
        ],
    )
    def test_given_arrays_must_fit(self, first, y, what):
        with pytest.raises(OpError) as caught:
            first().forward_into([X], [y])
        assert str(caught.value) == f"Operation 'times' writes contiguous arrays (3,) of float32, not {what}"

    def test_given_arrays_may_not_be_the_inputs(self, first):
        with pytest.raises(OpError) as caught:
            first().forward_into([X], [X])
        assert str(caught.value) == "Operation 'times' cannot write its output over its input"

    def test_results_are_arrays_of_their_own(self, first):
        op = first()
        y = op.forward(X)
        z = op.forward(X + 1)
        assert (y.tolist(), z.tolist()) == ([2, 4, 6], [4, 6, 8])


def unaligned(array):
    """Return the same values at an address that no float begins at."""
    room = np.zeros(array.nbytes + 1, np.uint8)
    moved = room[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


@settings(deadline=None, max_examples=60)
@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    dtype=st.sampled_from(["f4", "f8", ">f4"]),
    axes=st.randoms(use_true_random=False),
    step=st.sampled_from([1, 2, -1]),
)
def test_any_layout_gives_what_numpy_gives(libraries, shape, dtype, axes, step):
    order = list(range(len(shape)))
    axes.shuffle(order)
    x = np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape).transpose(order)
    x = x[..., ::step] if shape else x
    op = libraries().ops[0]
    np.testing.assert_array_equal(op.forward(x), 2 * x)
    np.testing.assert_array_equal(op.backward(x, [x], x)[0], 2 * x)


def test_nan_and_infinity_pass_through(first):
    x = np.array([np.nan, np.inf, -np.inf], np.float32)
    y = first().forward(x)
    assert np.isnan(y[0])
    assert y[1:].tolist() == [np.inf, -np.inf]


class TestInputs:
    def refused(self, op, inputs, **attributes):
        ops.register_custom_op(op)
        try:
            with pytest.raises(OpError) as caught:
                ops.execute_custom_op(op.name, inputs, **attributes)
        finally:
            ops.unregister_custom_op(op.name)
        return str(caught.value)

    def test_their_count(self, first):
        assert self.refused(first(), [X, X]) == "Operation 'times' expects 1 input, got 2"
        assert self.refused(first(), []) == "Operation 'times' expects 1 input, got 0"

    def test_their_kind(self, first):
        assert (
            self.refused(first(), [np.array(["a"])])
            == "Operation 'times' expects numbers, got <U1 for input 0"
        )
        wide = np.zeros(2, np.longdouble)
        assert self.refused(first(), [wide]) == (
            f"Operation 'times' does not take input 0: no native op takes {wide.dtype}"
        )

    def test_attributes(self, first):
        assert self.refused(first(), [X], axis=1) == "operation 'times' has no attribute 'axis'; it has none"

    def test_numbers_and_lists_are_taken(self, first):
        assert first().call([[1, 2]], {}).tolist() == [2, 4]
        assert first().call([1.5], {}) == 3.0
        assert first().call([np.float64(1.5)], {}).dtype == np.float64

    def test_what_the_plugin_refuses(self, first):
        op = first(VALIDATE="positive")
        message = "Operation 'times' does not take these inputs: it is below 0"
        assert op.call([X], {}).tolist() == [2, 4, 6]
        assert self.refused(op, [-X]) == message
        assert op.call([X], {}).tolist() == [2, 4, 6]
        with pytest.raises(OpError) as caught:
            op.validate_inputs([-X])
        assert str(caught.value) == message

    def test_an_answer_about_shapes_is_remembered(self, first):
        op = first(VALIDATE="counts_looks", FLAGS="BS_VALIDATE_BY_SHAPE")
        for _ in range(3):
            assert op.call([X], {}).tolist() == [2, 4, 6]
        assert self.refused(op, [X[:1]]) == "Operation 'times' does not take these inputs: it was asked twice"


class TestFailures:
    @pytest.mark.parametrize(
        ("forward", "message"),
        [
            ("fails", "Operation 'times' failed on shapes (3,): the moon is in the wrong place"),
            ("refuses", "Operation 'times' does not take these inputs: it wants a Tuesday"),
            ("is_silent", "Operation 'times' failed on shapes (3,): it gave no message"),
            (
                "is_strange",
                "Operation 'times' failed on shapes (3,): it returned the status 17, "
                "which this host does not know; what now",
            ),
            ("babbles", "Operation 'times' failed on shapes (3,): " + 1024 * "x"),
        ],
    )
    def test_a_status_is_an_error_with_the_plugins_own_words(self, first, forward, message):
        op = first(FORWARD=forward)
        for _ in range(2):
            with pytest.raises(OpError) as caught:
                op.call([X], {})
            assert str(caught.value) == message

    def test_a_panic_is_the_plugins_bug(self, first):
        op = first(FORWARD="panics", BACKWARD="panics")
        bug = f"  this is a bug in native plugin spoilt 1.2.3 ({op.library.path})"
        with pytest.raises(OpError) as caught:
            op.call([X], {})
        assert str(caught.value) == f"Operation 'times' panicked on shapes (3,): index 7 of 3\n{bug}"
        with pytest.raises(GradientError) as caught:
            op.backward(X, [X], X)
        assert (
            str(caught.value) == f"backward: Operation 'times' panicked on shapes (3,): index 7 of 3\n{bug}"
        )


class TestRules:
    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (
                {"SHAPE": "shape_below_0"},
                "Operation 'times' says that output 0 has the negative shape (-3,)",
            ),
            (
                {"SHAPE": "shape_too_long"},
                "Operation 'times' says that output 0 has 65 dimensions; it must have 0 to 64",
            ),
            ({"SHAPE": "shape_refused"}, "Operation 'times' does not take these inputs: it is too flat"),
            (
                {"SHAPE": "shape_too_big"},
                "Operation 'times' promises outputs of shape (1099511627776, 1099511627776), "
                "which this machine cannot hold",
            ),
            (
                {"DTYPE": "dtype_99"},
                "Operation 'times' says that output 0 has dtype 99, which brainsmith_plugin.h does not list",
            ),
            (
                {"DEVICE": "device_elsewhere"},
                "Operation 'times' states for its output the device 'fpga:0'; arrays here are on 'cpu'",
            ),
            ({"DEVICE": "device_null"}, "Operation 'times' names no device for output 0"),
        ],
    )
    def test_an_answer_that_cannot_be(self, first, parts, message):
        op = first(**parts)
        with pytest.raises(OpError) as caught:
            op.call([X], {})
        assert str(caught.value) == message

    def test_they_serve_a_graph_that_is_not_run(self, first):
        op = first(**TELLS)
        assert op.output_shape([(2, 3)]) == (16,)
        assert op.output_dtype([np.dtype(np.float32)]) == np.float64
        assert op.output_device(["cpu"]) == "cpu"
        assert first(DEVICE="device_elsewhere").output_device(["cpu"]) == "fpga:0"

    def test_by_default_they_are_the_first_inputs(self, first):
        op = first()
        assert op.output_shape([(2, 3)]) == (2, 3)
        assert op.output_dtype([np.dtype(np.int8)]) == np.int8
        assert op.output_device(["fpga:1"]) == "fpga:1"


class TestGradients:
    def test_they_come_from_the_plugin(self, first):
        op = first()
        gradient = op.create_gradient_function([X], 2 * X)
        assert gradient.gradients(np.array([1, 10, 100], np.float32))[0].tolist() == [2, 20, 200]
        assert gradient.backward(np.ones(3, np.float32), ["x"])["x"].tolist() == [2, 2, 2]

    def test_without_a_backward_there_is_none(self, libraries):
        op = libraries().ops[1]
        message = "operation 'plus' has no gradient: it defines no backward"
        for use in (lambda: op.create_gradient_function([X], X), lambda: op.backward(X, [X], X)):
            with pytest.raises(GradientError) as caught:
                use()
            assert str(caught.value) == message

    @pytest.mark.slow
    def test_several_inputs_and_outputs(self, first):
        op = first(
            FORWARD="sum_and_difference", BACKWARD="sum_and_difference_gradient", NUM_INPUTS=2, NUM_OUTPUTS=2
        )
        outputs = op.call([X, X[::-1].copy()], {})
        assert [y.tolist() for y in outputs] == [[4, 4, 4], [-2, 0, 2]]
        assert op.output_shape([(3,), (3,)]) == ((3,), (3,))
        a, b = op.create_gradient_function([X, X], outputs).gradients((X, np.ones(3, np.float32)))
        assert (a.tolist(), b.tolist()) == ([2, 3, 4], [0, 1, 2])

    @pytest.mark.slow
    def test_an_input_that_is_not_differentiable_has_none(self, first):
        op = first(
            FORWARD="sum_and_difference",
            BACKWARD="sum_and_difference_gradient",
            NUM_INPUTS=2,
            NUM_OUTPUTS=2,
            SKIPPED=2,
        )
        a, b = op.create_gradient_function([X, X], op.call([X, X], {})).gradients((X, X))
        assert (op.not_differentiable, a.tolist(), b) == ((1,), [2, 4, 6], None)

    def test_the_upstream_gradient_must_fit(self, first):
        with pytest.raises(GradientError) as caught:
            first().backward(np.ones(4, np.float32), [X], X)
        assert (
            str(caught.value)
            == "the gradient of operation 'times' must have its output's shape (3,), not (4,)"
        )

    @pytest.mark.parametrize(
        ("output", "got"),
        [
            (np.zeros(1, np.float32), "one of float32 of shape (1,)"),
            (np.zeros(3), "one of float64 of shape (3,)"),
            (None, "None"),
        ],
    )
    def test_the_output_must_be_what_forward_returned(self, first, output, got):
        """The plugin reads it by the shape and dtype of its own rules."""
        with pytest.raises(GradientError) as caught:
            first().backward(X, [X], output)
        assert str(caught.value) == (
            "backward of operation 'times' must get what forward returned, an array of float32 of shape (3,), "
            f"not {got}"
        )

    def test_there_must_be_a_gradient_and_an_output_for_each_output(self, first):
        op = first(
            FORWARD="sum_and_difference",
            BACKWARD="sum_and_difference_gradient",
            NUM_INPUTS=2,
            NUM_OUTPUTS=2,
        )
        for gradients, outputs, wrong in (
            ((X, X), (X,), "2 outputs, one for each output, not 1"),
            ((X, X), X, "2 outputs, one for each output, not a value of type ndarray"),
            ((X, X, X), (X, X), "2 gradients, one for each output, not 3"),
            (None, (X, X), "2 gradients, one for each output, not a value of type NoneType"),
        ):
            with pytest.raises(GradientError) as caught:
                op.backward(gradients, [X, X], outputs)
            assert str(caught.value) == f"backward of operation 'times' must get {wrong}"

    def test_the_upstream_gradient_must_hold_numbers(self, first):
        with pytest.raises(GradientError) as caught:
            first().backward("up", [X], X)
        assert str(caught.value) == "the gradient of operation 'times' must be an array of float32, not 'up'"

    def test_integers_have_none(self, first):
        x = np.array([1, 2])
        with pytest.raises(GradientError) as caught:
            first().backward(x, [x], x)
        assert str(caught.value) == "operation 'times' has no gradient for input 0, which is of int64"

    def test_a_failure_is_a_gradient_error(self, first):
        with pytest.raises(GradientError) as caught:
            first(BACKWARD="fails").backward(X, [X], X)
        assert str(caught.value) == (
            "backward: Operation 'times' failed on shapes (3,): the moon is in the wrong place"
        )


class TestThreads:
    def test_each_has_structures_of_its_own(self, first):
        op, wrong = first(), []

        def run(number):
            for size in range(1, 200):
                x = np.full(size, number, np.float32)
                if not (op.forward(x) == 2 * number).all():
                    wrong.append((number, size))

        threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_a_call_within_a_call_of_the_same_thread(self, first):
        """Python code of a signal or finaliser can run in the midst of a call."""
        op, inner = first(), []

        def trace(frame, event, _):
            if (
                event == "call"
                and frame.f_code.co_name == "forward"
                and frame.f_code.co_filename.endswith("frame.py")
            ):
                sys.settrace(None)
                inner.append(op.forward(X + 10).tolist())

        sys.settrace(trace)
        try:
            outer = op.forward(X).tolist()
        finally:
            sys.settrace(None)
        assert (outer, inner) == ([2, 4, 6], [[22, 24, 26]])

    def test_many_shapes_are_not_all_kept(self, first):
        op = first()
        for size in range(600):
            assert op.forward(np.ones(size, np.float32)).shape == (size,)
        assert len(op._thread.usage.frames) <= 256


class TestElsewhere:
    """A native op is an op like any other."""

    @pytest.fixture
    def registered(self, first):
        op = first()
        ops.register_custom_op(op)
        yield op
        ops.unregister_custom_op(op.name)

    def test_on_the_tape(self, registered):
        x = ops.Tensor(X, requires_grad=True)
        y = ops.execute_custom_op("times", [x * x])
        y.sum().backward()
        assert (y.numpy().tolist(), x.grad.tolist()) == ([2, 8, 18], [4, 8, 12])

    def test_in_a_graph(self, registered):
        from qonnx.core.onnx_exec import execute_onnx

        x = ops.Tensor(X, requires_grad=True)
        model = ops.export_onnx([ops.execute_custom_op("times", [x * x])], [x])
        assert [node.op_type for node in model.graph.node] == ["Mul", "times"]
        (result,) = execute_onnx(model, {model.graph.input[0].name: X}).values()
        assert result.tolist() == [2, 8, 18]

    def test_its_gradient_is_checked(self, first):
        assert max(ops.gradcheck(first()).worst.values()) < 1e-6
        with pytest.raises(GradientError, match="input 0"):
            ops.gradcheck(first(BACKWARD="wrong_gradient"))
