"""What a hardware layer would compute otherwise is refused by name, with and without verification."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from brainsmith.steps.conversion_limits import check_limits
from tests.build.graphs import quant_mlp
from tests.steps.conftest import QONNX, Graph, integers


def model_of(
    op_type, shape, result, constants=(), opset=13, datatype="INT4", outputs=1, inputs=None, **attributes
):
    """Return a model of one node, `n`, that reads `x` of integers and then the constants."""
    names = [f"c{at}" if value is not None else "" for at, value in enumerate(constants)]
    made = [f"y{at}" for at in range(outputs)]
    reads = inputs(names) if inputs else ["x", *names]
    graph = helper.make_graph(
        [helper.make_node(op_type, reads, made, name="n", **attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, result) for name in made[-1:]],
        [numpy_helper.from_array(value, name) for value, name in zip(constants, names, strict=True) if name],
    )
    opsets = [helper.make_opsetid("", opset)]
    wrapper = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=opsets))
    wrapper.set_tensor_datatype("x", DataType[datatype])
    return wrapper


def fault(model):
    """Return what is said of the model's node, without its name; nothing if it is taken."""
    try:
        check_limits(model, {model.graph.node[0].op_type})
    except ModelError as error:
        text = str(error)
        start = f"node 'n' ({model.graph.node[0].op_type}) "
        assert text.startswith(start)
        return text.removeprefix(start)
    return ""


ONE = (np.array([1], np.int64),)


def top_k(shape=(1, 4), result=(1, 1), outputs=2, **attributes):
    return model_of("TopK", shape, result, ONE, outputs=outputs, **attributes)


def test_the_largest_along_the_last_axis_is_taken():
    assert (
        fault(top_k()) == fault(top_k(axis=1)) == fault(top_k((1, 2, 4), (1, 2, 1), axis=2, largest=1)) == ""
    )


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            top_k(largest=0),
            "finds the smallest values, and LabelSelect the largest: negate what goes into it, and set largest to 1",
        ),
        (
            top_k((3, 4), (1, 4), axis=0),
            "works along axis 0 of 2, and LabelSelect along the last: transpose what goes into it",
        ),
        (
            top_k(outputs=1),
            "gives values that are used, and LabelSelect gives indices only: take the values out of the outputs",
        ),
    ],
)
def test_another_top_k_is_refused(model, expected):
    assert fault(model) == expected


def test_a_top_k_of_floats_stays_on_the_host():
    assert fault(top_k(largest=0, datatype="FLOAT32")) == ""


@pytest.mark.parametrize(
    ("opset", "axis", "expected"),
    [
        (13, None, ""),
        (13, 2, ""),
        (13, 1, "works along axis 1 of 3, and HWSoftmax along the last: transpose what goes into it"),
        (11, None, "works along axis 1 of 3, and HWSoftmax along the last: transpose what goes into it"),
    ],
)
def test_a_softmax_along_another_axis_is_refused(opset, axis, expected):
    stated = {} if axis is None else {"axis": axis}
    assert fault(model_of("Softmax", (1, 3, 4), (1, 3, 4), opset=opset, **stated)) == expected


def pool(size, result, **attributes):
    return model_of("MaxPool", (1, 1, size, size), (1, 1, result, result), kernel_shape=[2, 2], **attributes)


def test_a_pool_whose_windows_reach_beyond_the_image_is_refused():
    beyond = pool(5, 3, strides=[2, 2], ceil_mode=1)
    assert fault(beyond) == ("uses ceil_mode, which Pool does not support: pad the image before it")
    assert fault(pool(6, 3, strides=[2, 2], ceil_mode=1)) == fault(pool(5, 2, strides=[2, 2])) == ""


def test_a_pool_with_gaps_in_its_windows_is_refused():
    assert fault(pool(5, 3, dilations=[2, 2])) == (
        "has dilations = [2, 2], which Pool does not support: use a convolution, or no dilation"
    )


def resize(size, factor, **attributes):
    result = (1, round(size * factor), round(size * factor), 2)
    scales = np.array([1, factor, factor, 1], np.float32)
    return model_of(
        "Resize", (1, size, size, 2), result, (scales,), inputs=lambda names: ["x", "", *names], **attributes
    )


@pytest.mark.parametrize("coordinates", ["asymmetric", "half_pixel", "align_corners"])
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
@pytest.mark.parametrize(("size", "factor"), [(1, 3), (3, 2), (4, 3), (4, 1.5)])
def test_a_resize_is_taken_if_and_only_if_it_repeats_each_pixel(size, factor, rounding, coordinates):
    model = resize(
        size, factor, mode="nearest", nearest_mode=rounding, coordinate_transformation_mode=coordinates
    )
    x = np.random.default_rng(1).integers(-8, 8, (1, size, size, 2)).astype(np.float32)
    found = execute_onnx(model, {"x": x})["y0"]
    repeats = factor == int(factor) and np.array_equal(found, x.repeat(int(factor), 1).repeat(int(factor), 2))
    assert fault(model) == (
        ""
        if repeats
        else "does not repeat each pixel equally often, as UpsampleNearestNeighbour does: use whole factors, mode "
        "nearest, nearest_mode floor and coordinate_transformation_mode asymmetric"
    )


@pytest.mark.parametrize(("divisor", "refused"), [(3.0, True), (0.5, False), (np.inf, False)])
def test_a_quotient_of_integers_is_refused(divisor, refused):
    expected = "divides integers, whose quotients are fractions, and ElementwiseDiv cuts those off: multiply by a constant"
    constants = (np.float32([divisor]),)
    assert fault(model_of("Div", (1, 4), (1, 4), constants)) == (expected if refused else "")
    swapped = model_of("Div", (1, 4), (1, 4), constants, inputs=lambda names: [*names, "x"])
    assert fault(swapped) == (expected if refused else "")


@pytest.mark.parametrize(("datatype", "pads"), [("TERNARY", [0, 0, 1, 0]), ("BIPOLAR", [0, 0, 0, 0])])
def test_padding_with_a_value_of_the_type_is_taken(datatype, pads):
    weights = (np.ones((2, 2, 2, 2), np.float32),)
    shape = (1, 2, 3 + pads[2], 3)
    assert fault(model_of("Conv", (1, 2, 4, 4), shape, weights, datatype=datatype, pads=pads)) == ""


def test_zeros_around_an_image_of_a_type_without_zero_are_refused_before_the_lowering(config):
    graph = Graph(1, 2, 4, 4)
    weights = graph.weights(integers(1, 3, 2, 2, 2))
    model = graph.node("Conv", weights, pads=[0, 0, 1, 0]).quant(4).model(1, 3, 4, 3, datatype="BIPOLAR")
    for step in (steps.cleanup, steps.qonnx_to_finn):
        model = step(model, config)
    with pytest.raises(ModelError) as caught:
        steps.streamline(model, config)
    assert str(caught.value) == (
        "node 'Conv_0' (Conv) pads an image of BIPOLAR with 0, which that type does not hold: give the image a datatype "
        "that has 0, such as INT2, or use no padding"
    )


@pytest.mark.parametrize("kind", ["Conv", "MatMul"])
def test_signs_that_no_quantiser_gives_times_signs_are_refused_before_the_lowering(config, kind):
    shapes = {"Conv": ((1, 2, 4, 4), (3, 2, 2, 2), (1, 3, 3, 3)), "MatMul": ((1, 2), (2, 3), (1, 3))}
    shape, size, result = shapes[kind]
    graph = Graph(*shape)
    weights = graph.constant(np.ones(size))
    graph.nodes.append(
        helper.make_node("BipolarQuant", [weights, graph.constant(1.0)], ["signs"], name="q", domain=QONNX)
    )
    model = graph.node(kind, "signs").quant(4).model(*result, datatype="BIPOLAR")
    for step in (steps.cleanup, steps.qonnx_to_finn):
        model = step(model, config)
    with pytest.raises(ModelError) as caught:
        steps.streamline(model, config)
    assert str(caught.value) == (
        f"node '{kind}_0' ({kind}) multiplies BIPOLAR inputs that come from no quantiser by BIPOLAR weights, and a layer "
        "that counts equal signs takes bits: give the model's input the datatype INT2, which holds -1 and 1, too"
    )


@pytest.mark.parametrize("what", ["scale", "zero point", "bit width"])
def test_weights_whose_quantiser_an_input_changes_are_refused(config, what):
    model = quant_mlp()
    node = next(node for node in model.graph.node if node.name == "weight1")
    node.input[("scale", "zero point", "bit width").index(what) + 1] = "moving"
    model.graph.node.insert(0, helper.make_node("ReduceMax", ["x"], ["moving"], keepdims=0))
    model = steps.cleanup(model, config)
    with pytest.raises(ModelError) as caught:
        steps.qonnx_to_finn(model, config)
    assert (
        str(caught.value) == f"node 'Quant_2' (Quant) has a {what} that is not constant ('ReduceMax_0_out0')"
    )


def test_all_nodes_beyond_a_limit_are_named():
    model = model_of("MaxPool", (1, 1, 4, 4), (1, 1, 2, 2), kernel_shape=[2, 2], dilations=[2, 2])
    model.graph.node.add().CopyFrom(model.graph.node[0])
    model.graph.node[1].name, model.graph.node[1].output[0] = "m", "z"
    with pytest.raises(ModelError) as caught:
        check_limits(model, {"MaxPool"})
    reason = "has dilations = [2, 2], which Pool does not support: use a convolution, or no dilation"
    assert str(caught.value) == f"node 'n' (MaxPool) {reason}\nnode 'm' (MaxPool) {reason}"
