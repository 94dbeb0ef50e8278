"""An exported graph computes what the tape computed, has the user's names, and is the same bytes each time."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from onnx import numpy_helper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith import ops
from brainsmith.autodiff import functional as F
from brainsmith.autodiff.modes import no_grad
from brainsmith.autodiff.primitives.gathers import TOP_K
from brainsmith.autodiff.primitives.images import CONV2D, GLOBAL_AVERAGE_POOL, MAX_POOL2D
from brainsmith.autodiff.primitives.movements import FLATTEN, TRANSPOSE
from brainsmith.autodiff.tape.tensor import Tensor, apply_op
from brainsmith.errors import OpError
from brainsmith.execution.execute import Executor

QONNX = "qonnx.custom_op.general"


def quant(x, scale, bits, narrow=False):
    """Quantise to signed integers of a number of bits, times a scale."""
    return ops.execute_custom_op(
        "int_quant", [x, np.float32(scale), np.float32(0), np.float32(bits)], narrow=narrow
    )


def conv(x, weight):
    return apply_op(CONV2D, (x, weight), {"padding": 1})


def integers(random, *shape):
    return random.integers(-3, 4, shape).astype(np.float32)


def run(model, feed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return execute_onnx(model.transform(InferShapes()), feed)


def digits_network(random, x):
    """Return what the digits networks are made of: convolution, residual sum, pooling, dense, the class."""
    weights = {name: Tensor(integers(random, *shape), requires_grad=True) for name, shape in SHAPES.items()}
    h = quant(x + np.float32(-8), 1, 6)
    h = conv(h, quant(weights["conv1_weight"], 0.5, 4, narrow=True))
    fork = quant(h + integers(random, 1, 4, 1, 1), 0.25, 4)
    h = conv(fork, quant(weights["conv2_weight"], 0.5, 4, narrow=True))
    h = apply_op(MAX_POOL2D, (quant(h, 0.25, 4) + fork,))
    h = apply_op(GLOBAL_AVERAGE_POOL, (h,))
    h = F.matmul(apply_op(FLATTEN, (h,)), quant(weights["dense_weight"], 0.5, 4, narrow=True))
    return h, apply_op(TOP_K, (h,))[1], weights


SHAPES = {"conv1_weight": (4, 1, 3, 3), "conv2_weight": (4, 4, 3, 3), "dense_weight": (4, 10)}


def test_a_quantised_network_is_exported_as_compilers_want_it(tmp_path):
    random = np.random.default_rng(0)
    x = Tensor(random.integers(0, 17, (1, 1, 8, 8)).astype(np.float32))
    logits, label, weights = digits_network(random, x)
    model = ops.export_onnx(
        {"logits": logits, "label": label},
        {"image": x},
        tmp_path / "m.onnx",
        name="digits",
        names=weights,
        datatypes={"image": "UINT5"},
    )
    assert (tmp_path / "m.onnx").read_bytes() == model.model.SerializeToString(deterministic=True)
    assert [node.op_type for node in model.graph.node] == [
        "Add", "Quant", "Quant", "Conv", "Add", "Quant", "Quant", "Conv", "Quant", "Add", "MaxPool",
        "GlobalAveragePool", "Flatten", "Quant", "MatMul", "TopK",
    ]  # fmt: skip
    assert {node.domain for node in model.graph.node} == {"", QONNX}
    assert model.get_opset_imports() == {"": 17, QONNX: 1}
    assert model.graph.name == "digits"
    assert [value.name for value in model.graph.input] == ["image"]
    assert [value.name for value in model.graph.output] == ["logits", "label"]
    np.testing.assert_array_equal(model.get_initializer("conv1_weight"), weights["conv1_weight"].numpy())
    assert model.get_initializer("int_quant_scale") == 1
    assert model.get_tensor_datatype("image").name == "UINT5"
    assert model.check_all_tensor_shapes_specified()
    found = run(model, {"image": x.numpy()})
    np.testing.assert_array_equal(found["logits"], logits.numpy())
    np.testing.assert_array_equal(found["label"], label.numpy())
    stack = np.stack([x.numpy(), x.numpy() + 1])
    np.testing.assert_array_equal(Executor(model).run({"image": stack})["logits"][0], logits.numpy())


def test_the_same_computation_gives_the_same_bytes():
    def once():
        random = np.random.default_rng(0)
        x = Tensor(np.ones((1, 1, 8, 8), np.float32))
        logits, label, weights = digits_network(random, x)
        exported = ops.export_onnx([logits, label], x, names=weights)
        return exported.model.SerializeToString(deterministic=True)

    assert once() == once()


UNARY = {
    "neg": (lambda x: -x, True), "abs": (F.abs, True), "relu": (F.relu, True), "tanh": (F.tanh, False),
    "exp": (F.exp, False), "sigmoid": (F.sigmoid, False), "erf": (F.erf, False),
    "sqrt": (lambda x: F.sqrt(F.abs(x) + 1), False), "log": (lambda x: F.log(F.abs(x) + 1), False),
}  # fmt: skip
BINARY = {
    "add": (lambda a, b: a + b, True), "sub": (lambda a, b: a - b, True), "mul": (lambda a, b: a * b, True),
    "div": (lambda a, b: a / (F.abs(b) + 1), False), "max": (F.maximum, True), "min": (F.minimum, True),
}  # fmt: skip
REDUCING = {
    "sum": (lambda x: F.sum(x, axis=1, keepdims=True), True),
    "mean": (lambda x: F.mean(x, axis=-1, keepdims=True), False),
    "max_axis": (lambda x: F.max(x, axis=0, keepdims=True), True),
}
STEPS = st.lists(
    st.tuples(st.sampled_from([*UNARY, *BINARY, *REDUCING]), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS, seed=st.integers(0, 2**32 - 1))
def test_the_graph_computes_what_the_tape_computed(steps, seed):
    """The law: bit for bit where all arithmetic is of small integers, else to 1e-6 of what went in."""
    random = np.random.default_rng(seed)
    x, y = Tensor(integers(random, 2, 3)), Tensor(integers(random, 2, 1))
    values, exact = [x, y, x + y], [True, True, True]
    for name, first, second in steps:
        a, b = first % len(values), second % len(values)
        if name in BINARY:
            function, stays = BINARY[name]
            values.append(function(values[a], values[b]))
            exact.append(stays and exact[a] and exact[b])
        else:
            function, stays = {**UNARY, **REDUCING}[name]
            values.append(function(F.minimum(values[a], np.float32(20))))
            exact.append(stays and exact[a])
    wanted = {f"y{at}": value for at, value in enumerate(values[2:])}
    found = run(ops.export_onnx(wanted, {"x": x, "y": y}), {"x": x.numpy(), "y": y.numpy()})
    for (name, tensor), whole in zip(wanted.items(), exact[2:], strict=True):
        assert found[name].dtype == tensor.dtype
        size = 1 + np.abs(tensor.numpy()).max()
        if whole and size < 2**24:
            np.testing.assert_array_equal(found[name], tensor.numpy())
        else:
            np.testing.assert_allclose(found[name], tensor.numpy(), rtol=2e-6, atol=1e-6 * size)


Y = np.random.default_rng(0).normal(0, 1, (2, 3, 4)).astype(np.float32)
CHANNELS = np.ones(4, np.float32)
STEPS_OF_THE_TAPE = {
    "exp": F.exp, "log": lambda x: F.log(F.abs(x)), "log1p": lambda x: F.log1p(F.abs(x)), "expm1": F.expm1,
    "sqrt": lambda x: F.sqrt(F.abs(x)), "sin": F.sin, "cos": F.cos, "tanh": F.tanh, "sigmoid": F.sigmoid, "erf": F.erf,
    "relu": F.relu, "round": lambda x: F.round(x * 3), "floor": F.floor, "sign": F.sign,
    "maximum": lambda x: F.maximum(x, x[0]), "minimum": lambda x: F.minimum(x, 0.1), "pow": lambda x: F.abs(x) ** 2.5,
    "square": lambda x: x**2, "rpow": lambda x: 2**x, "rdiv": lambda x: 1 / (x + 5),
    "greater": lambda x: F.cast(F.greater(x, 0.0), np.float32),
    "where": lambda x: F.where(F.logical_and(F.less_equal(x, 0.0), F.logical_not(F.equal(x, 1.0))), x, -x),
    "logical_or": lambda x: F.logical_or(F.greater_equal(x, 0.5), F.less(x, -0.5)),
    "sum": F.sum, "sum_axis": lambda x: F.sum(x, 1), "mean": lambda x: F.mean(x, (0, 2), True),
    "max": lambda x: F.max(x, -1), "min": F.min, "var": lambda x: F.var(x, 1),
    "mean_of_integers": lambda x: F.mean(F.cast(x * 3, np.int32), 1),
    "sum_of_integers": lambda x: F.sum(F.cast(x * 3, np.int32), 1),
    "argmax": lambda x: F.argmax(x, 1), "argmax_of_all": F.argmax, "argmax_kept": lambda x: F.argmax(x, -1, True),
    "clip": lambda x: F.clip(x, -0.5, 0.5), "clip_low": lambda x: F.clip(x, low=0.0),
    "cast": lambda x: F.cast(x * 3, np.int32), "in_float64": lambda x: F.tanh(F.cast(x, np.float64)),
    "integers": lambda x: F.cast(x * 3, np.int64) + 1,
    "softmax": lambda x: F.softmax(x, 1), "log_softmax": F.log_softmax, "layer_norm": F.layer_norm,
    "layer_norm_affine": lambda x: F.layer_norm(x, CHANNELS * 2, CHANNELS),
    "cross_entropy": lambda x: F.cross_entropy(x[0], np.array([1, 2, 0])),
    "reshape": lambda x: F.reshape(x, (6, -1)), "flatten": F.flatten, "reverse_axes": F.transpose,
    "transpose": lambda x: F.transpose(x, (2, 0, 1)), "squeeze": lambda x: F.squeeze(x[:1], 0),
    "expand_dims": lambda x: F.expand_dims(x, 1), "expand": lambda x: F.expand(x[:1], (5, 3, 4)),
    "pad": lambda x: F.pad(x, ((0, 0), (1, 2), (0, 1))), "concat": lambda x: F.concat([x, x * 2, x], 1),
    "stack": lambda x: F.stack([x, x * 2], 0), "gather": lambda x: F.gather(x, np.array([1, 0, 1]), 0),
    "gather_nd": lambda x: F.gather_nd(x, np.array([[0, 1], [1, 2]])), "slice": lambda x: x[1, :, ::2],
    "list_index": lambda x: x[:, [0, 2]], "new_axis": lambda x: x[..., None, -1], "backwards": lambda x: x[::-1],
    "matmul": lambda x: x @ Y[0].T, "matrix_by_vector": lambda x: x @ Y[0, 0],
    "grouped_conv": lambda x: F.conv2d(F.reshape(x, (1, 2, 3, 4)), Y[0, :2].reshape(2, 1, 2, 2), groups=2),
    "max_pool": lambda x: F.max_pool2d(F.reshape(x, (1, 2, 3, 4)), 2, padding=1),
    "top_k": lambda x: F.top_k(x, 2)[0],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS_OF_THE_TAPE)
def test_every_step_of_the_tape_is_a_node(name):
    x = Tensor(Y)
    y = STEPS_OF_THE_TAPE[name](x)
    found = run(ops.export_onnx({"y": y}, {"x": x}), {"x": Y})["y"]
    assert (found.dtype, found.shape) == (y.dtype, y.shape)
    np.testing.assert_allclose(found, y.numpy(), rtol=2e-6, atol=1e-6)


@pytest.fixture
def op():
    """Register an op with an attribute and two outputs until the end of the test."""

    class Halves(ops.Op):
        name, num_inputs, num_outputs = "halves", 1, 2
        attributes = {"gain": 1.0}

        def forward(self, x, *, gain):
            return x * np.float32(gain / 2), np.floor(x / 2)

        def output_datatype(self, datatypes, **attributes):
            return "FLOAT32", datatypes[0]

    made = Halves()
    ops.register_custom_op(made)
    yield made
    if ops.is_custom_op_registered("halves"):
        ops.unregister_custom_op("halves")


def test_an_op_becomes_a_node_of_its_own_domain(op):
    x = Tensor(np.array([[4, 7]], np.float32))
    a, b = ops.execute_custom_op("halves", [x], gain=3.0)
    model = ops.export_onnx({"a": a + 1, "b": b}, {"x": x}, datatypes={"x": "INT5"})
    node = model.graph.node[0]
    assert (node.op_type, node.domain, node.name) == ("halves", "brainsmith.ops", "halves")
    assert list(node.output) == ["halves_out_0", "b"]
    assert model.get_opset_imports() == {"": 17, "brainsmith.ops": 1}
    assert model.get_tensor_datatype("b").name == "INT5"
    found = run(model, {"x": x.numpy()})
    np.testing.assert_array_equal(found["a"], [[7, 11.5]])
    np.testing.assert_array_equal(found["b"], [[2, 3]])


@pytest.mark.slow
def test_a_compiled_op_is_exported_as_the_op_that_it_is(op):
    compiled = ops.compile_op(op)
    x = Tensor(np.array([[4, 7]], np.float32))
    (a, _) = apply_op(compiled, [x])
    assert ops.export_onnx(a, x).graph.node[0].op_type == "halves"


def test_another_op_of_a_registered_name_is_refused(op):
    other = ops.CustomOpBuilder("halves", 1).forward(lambda inputs: inputs[0] / 3).build()
    x = Tensor(np.ones(2, np.float32))
    with pytest.raises(OpError) as raised:
        ops.export_onnx(apply_op(other, [x]), x)
    assert str(raised.value) == ("another operation is registered as 'halves'; register this one")


def test_names_are_the_user_s_or_follow_from_what_is_named():
    x = Tensor(np.ones((2, 2), np.float32))
    weight = Tensor(np.eye(2, dtype=np.float32))
    hidden = x @ weight
    y = (hidden + weight) * 2
    model = ops.export_onnx(y, x, names={"w": weight, "dense": hidden})
    assert [(node.name, list(node.input), list(node.output)) for node in model.graph.node] == [
        ("dense", ["input", "w"], ["dense"]),
        ("add", ["dense", "w"], ["add_out"]),
        ("output", ["add_out", "output_input_1"], ["output"]),
    ]
    plain = ops.export_onnx([y, hidden], [x])
    assert [value.name for value in plain.graph.output] == ["output_0", "output_1"]
    assert [numpy_helper.to_array(tensor).tolist() for tensor in plain.graph.initializer] == [
        [[1, 0], [0, 1]],
        2,
    ]


def test_an_input_may_be_an_intermediate_result_and_an_output_anything():
    x = Tensor(np.array([1, 2], np.float32))
    h = x * 3
    y = h + 1
    model = ops.export_onnx({"y": y, "again": y, "h_copy": h}, {"h": h})
    assert sorted(node.op_type for node in model.graph.node) == ["Add", "Identity", "Identity"]
    found = run(model, {"h": np.array([5, 6], np.float32)})
    assert [found[name].tolist() for name in ("y", "again", "h_copy")] == [[6, 7], [6, 7], [5, 6]]


def test_what_an_optimiser_has_changed_since_is_refused():
    x, weight = Tensor([1.0, 2.0]), Tensor([3.0, 4.0], requires_grad=True)
    y = x * weight
    y.sum().backward(keep_graph=True)
    ops.Sgd([weight], 0.5).step()
    with pytest.raises(OpError) as caught:
        ops.export_onnx(y, x)
    assert str(caught.value) == (
        "input 1 of operation 'mul' was changed in place after it was used (by an optimiser's step?), so the model would "
        "differ from what was computed: compute the result again, and export that"
    )
    again = x * weight
    model = ops.export_onnx({"y": again}, {"x": x})
    assert run(model, {"x": x.numpy()})["y"].tolist() == again.numpy().tolist() == [2.5, 6.0]


def test_an_input_of_the_graph_may_be_changed():
    x = Tensor([1.0, 2.0])
    y = x * 3
    x.data -= 1
    assert run(ops.export_onnx({"y": y}, {"x": x}), {"x": np.float32([1, 2])})["y"].tolist() == [3, 6]


def test_data_that_was_replaced_is_exported_as_it_was_computed_with():
    x, weight = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    y = x * weight
    weight.data = np.float32([5.0, 6.0])
    model = ops.export_onnx({"y": y * weight}, {"x": x}, names={"weight": weight})
    assert run(model, {"x": x.numpy()})["y"].tolist() == (y * weight).numpy().tolist() == [15, 48]


def test_a_record_keeps_the_attributes_that_it_was_computed_with():
    x, axes = Tensor([[1.0, 2.0, 3.0]]), [1, 0]
    y = apply_op(TRANSPOSE, [x], {"axes": axes})
    axes.reverse()
    assert y.record.attributes == {"axes": [1, 0]}
    assert run(ops.export_onnx({"y": y}, {"x": x}), {"x": x.numpy()})["y"].shape == (3, 1)


def test_integers_are_cast_as_numpy_promotes_them():
    x = Tensor(np.array([1.5, 2], np.float64))
    counts = Tensor(np.array([2, 3], np.int32))
    y = F.sqrt(x * counts)
    found = run(ops.export_onnx({"y": y}, {"x": x, "n": counts}), {"x": x.numpy(), "n": counts.numpy()})
    np.testing.assert_allclose(found["y"], y.numpy(), rtol=1e-15)


def released():
    x = Tensor(np.ones(2, np.float32), requires_grad=True)
    y = F.exp(x).sum()
    y.backward()
    return y, x


def unrecorded():
    x = Tensor(np.ones(2, np.float32))
    with no_grad():
        return x * 2, x


def unused():
    x = Tensor(np.ones(2, np.float32))
    return Tensor(x.numpy()) * 2, x


def unregistered():
    x = Tensor(np.ones(2, np.float32))
    local = ops.CustomOpBuilder("local", 1).forward(lambda inputs: inputs[0]).build()
    return apply_op(local, (x,)), x


def twice():
    x = Tensor(np.ones(2, np.float32))
    return x * 2, {"a": x, "b": x}


def no_tensor():
    return np.ones(2), Tensor(np.ones(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            released,
            "the record of operation 'sum' was released by backward(): export before it, "
            "or call it with keep_graph=True",
        ),
        (
            unrecorded,
            "output 'output' was not recorded: compute it from Tensors, outside of no_grad() and without detach()",
        ),
        (unused, "input 'input' is not used: no output was computed from this Tensor"),
        (
            unregistered,
            "operation 'local' is not registered, so a model would not find it: "
            "ops.register_custom_op(op), or @op on its class",
        ),
        (twice, "inputs 'a' and 'b' of an export are one Tensor"),
        (no_tensor, None),
    ],
)
def test_what_cannot_be_exported_is_said(make, message):
    outputs, inputs = make()
    with pytest.raises(OpError) as raised:
        ops.export_onnx(outputs, inputs)
    if message:
        assert str(raised.value) == message
    else:
        assert str(raised.value).startswith(
            "outputs of an export must be Tensors, by name or in a list, not "
        )


def test_wrong_names_and_datatypes_are_said():
    x = Tensor(np.ones(2, np.float32))
    y = x * 2
    cases = [
        ({"names": {"input": y}}, "the name 'input' is given to two Tensors of an export"),
        (
            {"datatypes": {"input": "INTX"}},
            "the datatype of 'input' must be one of QONNX's, such as INT4, not 'INTX'",
        ),
        ({"datatypes": {"z": "INT4"}}, "'z' is given the datatype INT4, but the graph has no such tensor"),
    ]
    for arguments, message in cases:
        with pytest.raises(OpError) as raised:
            ops.export_onnx(y, x, **arguments)
        assert str(raised.value) == message
    with pytest.raises(OpError) as raised:
        ops.export_onnx({"x": y}, {"x": x})
    assert str(raised.value) == "'x' is the name of an input and of an output of an export"
