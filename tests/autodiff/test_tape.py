"""The tape: gradients through graphs, what is refused, and what becomes of the memory."""

import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.autodiff.modes import is_recording
from brainsmith.autodiff.op import Op
from brainsmith.autodiff.primitives.products import MatMul
from brainsmith.autodiff.tape.tensor import apply_op
from brainsmith.errors import GradientError, OpError, PluginCrashError
from brainsmith.ops import CustomOpBuilder, Tensor, gradcheck, no_grad
from brainsmith.ops import functional as F


def leaf(values):
    return Tensor(np.array(values, np.float64), requires_grad=True)


def test_a_tensor_that_is_used_twice_gets_both_gradients():
    x = leaf([1.0, 2.0, 3.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


@settings(max_examples=30, deadline=None)
@given(times=st.integers(1, 12), value=st.floats(-2, 2))
def test_a_tensor_that_is_added_n_times_gets_n(times, value):
    x = leaf(value)
    total = x
    for _ in range(times - 1):
        total = total + x
    total.backward()
    assert x.grad == times


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_the_gradient_is_linear(seed, a, b):
    start = np.random.default_rng(seed).uniform(-1, 1, (2, 3))

    def gradient(function):
        x = leaf(start)
        function(x).sum().backward()
        return x.grad

    def first(x):
        return F.tanh(x) * x

    def second(x):
        return F.softmax(x * 2) @ np.arange(3.0)

    both = gradient(lambda x: a * first(x).sum() + b * second(x).sum())
    np.testing.assert_allclose(both, a * gradient(first) + b * gradient(second), atol=1e-12)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 9999))
def test_the_gradient_of_a_drawn_graph_is_that_of_finite_differences(seed):
    random = np.random.default_rng(seed)
    steps = random.integers(0, 8, 6)

    def graph(x, y):
        values = [x, y]
        for step in steps:
            a, b = (values[at % len(values)] for at in (step, 3 * step + 1))
            values.append(
                [
                    a + b,
                    a * b,
                    F.tanh(a),
                    F.sigmoid(a) - b,
                    a / (1 + b * b),
                    F.softmax(a),
                    a.mean(0) * b,
                    F.sin(a @ b.T) @ b,
                ][step]
            )
        return values[-1] * values[-2]

    assert gradcheck(
        graph, [random.uniform(0.5, 1, (3, 3)), random.uniform(0.5, 1, (3, 3))], seed=seed
    ).elements


@pytest.mark.parametrize("length", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_long_chain_overflows_no_stack(length):
    x = leaf(0.0)
    y = x
    for _ in range(length):
        y = y + 1.0
    y.backward()
    assert (y.item(), x.grad) == (length, 1.0)


@pytest.mark.slow
def test_a_long_chain_that_is_dropped_overflows_no_stack():
    y = leaf(0.0)
    for _ in range(100_000):
        y = y + 1.0
    del y


def test_gradients_are_added_up_until_they_are_forgotten():
    x = leaf([1.0])
    for expected in (3.0, 6.0):
        (3 * x).backward()
        assert x.grad.tolist() == [expected]
    x.zero_grad()
    assert x.grad is None


def test_gradients_share_no_memory_with_each_other_or_with_what_was_given():
    x, y, given_ = leaf([1.0]), leaf([2.0]), np.array([1.0])
    (x + y).backward(given_)
    x.grad *= 5
    assert (y.grad.tolist(), given_.tolist()) == ([1.0], [1.0])


def test_only_leaves_that_want_a_gradient_get_one():
    x, constant = leaf([1.0]), Tensor(np.array([2.0]))
    middle = x * constant
    (middle * 3).backward()
    assert (x.grad.tolist(), constant.grad, middle.grad) == ([6.0], None, None)
    stopped = leaf([1.0])
    (stopped.detach() * x).backward()
    assert stopped.grad is None


class TwoResults(Op):
    """x + y and x * y."""

    name, num_inputs, num_outputs = "two_results", 2, 2

    def forward(self, x, y):
        return x + y, x * y

    def backward(self, grad_output, inputs, output):
        (total, product), (x, y) = grad_output, inputs
        return total + product * y, total + product * x


def test_an_op_with_several_outputs():
    x, y = leaf([2.0]), leaf([3.0])
    total, product = apply_op(TwoResults(), [x, y])
    assert total.record is product.record
    assert (total.position, product.position) == (0, 1)
    (10 * total + product).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([13.0], [12.0])


def test_an_output_that_is_not_used_counts_as_zero():
    x, y = leaf([2.0]), leaf([3.0])
    apply_op(TwoResults(), [x, y])[1].backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3.0], [2.0])


def test_the_record_shows_what_was_done():
    x = leaf([[1.0, 2.0]])
    y = F.softmax(x * 2, axis=0)
    record = y.record
    assert (record.op.name, record.attributes, record.outputs[0] is y.data) == ("softmax", {"axis": 0}, True)
    (inner,) = record.inputs
    assert inner.record.inputs[0] is x
    assert inner.record.inputs[1].numpy().tolist() == 2.0
    assert record.serial > inner.record.serial
    assert repr(inner.record) == f"<record {inner.record.serial} of mul>"


def test_what_needs_no_gradient_is_recorded_too():
    y = Tensor([1.0]) + 1
    assert (y.record.op.name, y.requires_grad) == ("add", False)


def test_no_grad_records_nothing_and_ends():
    x = leaf([1.0])
    with no_grad():
        assert not is_recording()
        with no_grad():
            pass
        y = x * 2
        assert not is_recording()
    assert (y.record, y.requires_grad, is_recording()) == (None, False, True)

    @no_grad()
    def halved(value):
        return value / 2 if value.item() < 1 else halved(value / 2)

    assert halved(x).record is None
    assert is_recording()
    with pytest.raises(ZeroDivisionError), no_grad():
        1 / 0
    assert is_recording()


def test_no_grad_is_this_threads_alone():
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_recording()))
        thread.start()
        thread.join()
    assert seen == [True]


def step_without_gradient():
    return CustomOpBuilder("no_way_back", 1).forward(lambda inputs: inputs[0] + 1).build()


REFUSED = [
    (
        lambda x: (x * 2).backward(),
        "backward() of a Tensor of shape (3,) needs its gradient, of the same shape: y.backward(grad), or take a sum "
        "first: y.sum().backward()",
    ),
    (
        lambda x: (x * 2).backward([1.0]),
        "the gradient of a Tensor of shape (3,) must have that shape, not (1,)",
    ),
    (
        lambda x: Tensor([1.0]).backward(),
        "backward() needs a Tensor that was computed from one with requires_grad=True, outside of no_grad()",
    ),
    (
        lambda x: x.argmax().backward(),
        "a Tensor of int64 has no gradient; backward() needs floats",
    ),
    (
        lambda x: (F.round(x) * x).sum().backward(),
        "operation 'round' has no gradient: its derivative is zero almost everywhere; to stop the gradient "
        "before it, give it x.detach()",
    ),
    (
        lambda x: (x.argmax().astype(np.float64) * x).sum().backward(),
        "operation 'argmax' has no gradient: its derivative is zero almost everywhere; to stop the gradient "
        "before it, give it x.detach()",
    ),
    (
        lambda x: (x.astype(np.int32).astype(np.float64) * x).sum().backward(),
        "a cast to int32 has no gradient; to leave it out, use x.detach()",
    ),
    (
        lambda x: apply_op(step_without_gradient(), [x]).sum().backward(),
        "operation 'no_way_back' has no gradient: it defines no backward; to stop the gradient before it, give it "
        "x.detach()",
    ),
]


@pytest.mark.parametrize(("run", "message"), REFUSED)
def test_a_gradient_that_does_not_exist_is_an_error_and_changes_nothing(run, message):
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(GradientError) as caught:
        run(x)
    assert str(caught.value) == message
    assert x.grad is None


def test_after_a_failure_the_same_graph_can_still_be_used():
    x = leaf([1.0])
    good = x * 3
    bad = good + apply_op(step_without_gradient(), [good])
    with pytest.raises(GradientError):
        bad.backward()
    good.backward()
    assert x.grad.tolist() == [3.0]


def test_a_gradient_that_is_wrong_in_kind_is_refused():
    def wrong(grad_output, input_ids, *rest):
        return {input_ids[0]: np.ones(5)}

    op = CustomOpBuilder("wrong_shape", 1).forward(lambda inputs: inputs[0]).backward(wrong).build()
    with pytest.raises(GradientError) as caught:
        apply_op(op, [leaf([1.0])]).backward()
    assert (
        str(caught.value)
        == "backward of operation 'wrong_shape' returned shape (5,) for input 0 of shape (1,)"
    )


def backward_that_changes_what_it_is_given(grad_output, input_ids, *rest):
    grad_output *= 7
    return {input_ids[0]: grad_output}


def backward_with_a_bug(grad_output, input_ids, *rest):
    return {input_ids[0]: grad_output / {}}


@pytest.mark.parametrize(
    ("backward", "reason"),
    [
        (backward_that_changes_what_it_is_given, "ValueError: output array is read-only"),
        (backward_with_a_bug, "TypeError: unsupported operand type(s) for /: 'float' and 'dict'"),
    ],
)
def test_a_backward_that_fails_or_would_change_the_gradients_of_others_is_an_error_that_names_it(
    backward, reason
):
    op = CustomOpBuilder("faulty", 1).forward(lambda inputs: inputs[0] + 1).backward(backward).build()
    x, y, given_ = leaf([1.0]), leaf([1.0]), np.array([1.0])
    with pytest.raises(GradientError) as caught:
        (apply_op(op, [x]) + y).backward(given_)
    assert str(caught.value) == f"backward of operation 'faulty' failed on shapes (1,): {reason}"
    assert (x.grad, y.grad, given_.tolist(), given_.flags.writeable) == (None, None, [1.0], True)


def crash(*_):
    raise PluginCrashError("native plugin 'p': operation 'crashes' ended its process by SIGSEGV")


def test_a_crash_stays_one_on_the_tape_both_ways():
    op = CustomOpBuilder("crashes", 1).forward(lambda inputs: inputs[0] + 1).backward(crash).build()
    x = leaf([1.0])
    y = apply_op(op, [x])
    with pytest.raises(PluginCrashError):
        y.backward()
    with pytest.raises(PluginCrashError):
        apply_op(CustomOpBuilder("crashes", 1).forward(crash).build(), [x])


def test_a_graph_is_gone_through_once_or_kept():
    x = leaf([1.0])
    y = x * 3
    y.backward(keep_graph=True)
    y.backward()
    assert x.grad.tolist() == [6.0]
    assert (y.record.released, y.record.inputs, y.record.outputs) == (True, (), ())
    for again in (y, y * 2):
        with pytest.raises(GradientError) as caught:
            again.backward()
        assert str(caught.value) == (
            "the record of operation 'mul' was released by an earlier backward(); to go through it "
            "twice, call the first one with keep_graph=True"
        )


def test_a_change_in_place_between_forward_and_backward_is_refused():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    x.data -= 0.5
    with pytest.raises(GradientError) as caught:
        y.backward()
    assert str(caught.value) == (
        "input 0 of operation 'mul' was changed in place after it was used, so its gradient would be of other values; "
        "change it after backward(), or use a copy"
    )
    (x * x).sum().backward()
    assert x.grad.tolist() == [1.0, 3.0]


def test_a_replaced_array_leaves_older_records_as_they_were():
    x = leaf([1.0])
    y = x * x
    x.data = np.array([100.0])
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_results_on_the_tape_cannot_be_written_to():
    x = leaf([1.0, 2.0])
    for result in (
        x * 2,
        x.reshape(2, 1),
        apply_op(CustomOpBuilder("same", 1).forward(lambda i: i[0]).build(), [x]),
    ):
        with pytest.raises(ValueError, match="read-only"):
            result.data[0] = 5.0
    x.data[0] = 5.0
    with no_grad():
        free = x * 2
    free.data[0] = 7.0


def test_the_memory_of_a_graph_is_free_as_soon_as_nobody_holds_it():
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        middle = x * 2
        y = middle * middle
        records = [weakref.ref(middle.record), weakref.ref(y.record)]
        del middle, y
        assert [ref() for ref in records] == [None, None]
    finally:
        gc.enable()


def test_backward_lets_go_of_what_the_graph_held():
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        middle = x * 2
        tensor, record = weakref.ref(middle), weakref.ref(middle.record)
        loss = (middle * middle).sum()
        del middle
        assert tensor() is not None
        loss.backward()
        assert (tensor(), record()) == (None, None)
    finally:
        gc.enable()


def test_two_threads_that_record_at_once_do_not_mix():
    shared = leaf(np.ones(4))
    outcomes = []

    def train(factor):
        for _ in range(50):
            own = leaf(np.full(4, factor))
            ((own * own).sum() + (shared * factor).sum()).backward()
            outcomes.append(own.grad.tolist() == [2 * factor] * 4)

    threads = [threading.Thread(target=train, args=(float(factor),)) for factor in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 200
    assert shared.grad.tolist() == [50.0 * (1 + 2 + 3 + 4)] * 4


def test_an_infinite_gradient_is_a_result_and_no_warning():
    x = leaf([0.0, 4.0])
    F.sqrt(x).sum().backward()
    assert x.grad.tolist() == [np.inf, 0.25]


def test_only_gradients_that_are_needed_are_computed():
    asked = []

    class Watched(MatMul):
        def gradient(self, at, *rest, **attributes):
            asked.append(at)
            return super().gradient(at, *rest, **attributes)

    images, weight = Tensor(np.ones((5, 3))), leaf(np.ones((3, 2)))
    apply_op(Watched(), [images, weight]).sum().backward()
    assert asked == [1]


@pytest.mark.parametrize("op", [TwoResults()])
def test_calls_on_the_tape_are_checked_as_all_are(op):
    with pytest.raises(OpError) as caught:
        apply_op(op, [leaf([1.0])])
    assert str(caught.value) == "Operation 'two_results' expects 2 inputs, got 1"
    with pytest.raises(OpError) as caught:
        apply_op(op, [leaf([1.0]), 1.0], {"axis": 1})
    assert str(caught.value) == "operation 'two_results' has no attribute 'axis'; it has none"
