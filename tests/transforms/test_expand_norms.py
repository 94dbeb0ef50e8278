"""ExpandNorms: every form of a normalisation becomes one chain of operators, with the same result."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.testing.small_models import make_model, op_types
from brainsmith.testing.transform_laws import apply_once, check_same_function
from brainsmith.transforms.expand_norms import ExpandNorms

CENTRE = ["ReduceMean", "Sub"]
NORMAL = ["Pow", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul"]
# The chain and ONNX Runtime's fused operator sum in different orders; a normalised value is at most
# sqrt(size).
TOLERANCE = {"rtol": 2e-6, "atol": 4e-6}


def numbers(shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(1.0, 2.0, size=shape).astype(dtype)


def rounding(x, scale, axes=(-1,), epsilon=1e-5):
    """Bound what single precision may change in a layer norm of `x`, scaled by at most `scale`.

    The row's mean is off by a rounding of its largest element, and its variance by one of that one's square; both are
    seen through the inverse deviation, which is large where a row's elements are nearly equal.
    """
    x = x.astype(np.float64)
    centred = x - x.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)
    seen = np.abs(x).max(axes, keepdims=True) * inverse
    normal = np.abs(centred * inverse).max(axes, keepdims=True)
    worst = (seen + np.maximum(normal, 1) * seen**2).max()
    return {"rtol": 1e-5, "atol": 1e-6 + 4 * np.finfo(np.float32).eps * worst * np.abs(scale).max()}


def layer_norm(shape, outputs=("y",), bias=True, opset=17, elem_type=TensorProto.FLOAT, affine=None, **attrs):
    """Make a LayerNormalization with a scale and bias of the normalised shape (or of `affine`)."""
    axis = attrs.get("axis", -1)
    affine = shape[axis:] if affine is None else affine
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    constants = {"s": numbers(affine, 1, dtype)} | ({"b": numbers(affine, 2, dtype)} if bias else {})
    node = helper.make_node("LayerNormalization", ["x", *constants], list(outputs), name="norm", **attrs)
    kept = [name for name in outputs if name]
    return make_model([node], {"x": shape}, kept, constants, opset=opset, elem_type=elem_type)


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(), shape=st.lists(st.integers(1, 5), min_size=1, max_size=4), opset=st.sampled_from([17, 18])
)
def test_layer_normalization_of_any_shape(data, shape, opset):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    epsilon = data.draw(st.sampled_from([1e-3, 0.5]))
    bias = data.draw(st.booleans())
    outputs = data.draw(st.sampled_from([["y"], ["y", "m"], ["y", "m", "i"], ["y", "", "i"]]))
    model = layer_norm(shape, outputs, bias, opset, axis=axis, epsilon=epsilon)
    feeds = {"x": numbers(shape)}
    axes = tuple(range(axis % len(shape), len(shape)))
    tolerance = rounding(feeds["x"], model.get_initializer("s"), axes, epsilon)
    if "i" in outputs:
        # Of the inverse deviation itself, an output here, the variance's rounding shows as a relative error.
        tolerance["rtol"] = max(tolerance["rtol"], tolerance["atol"])
    after, modified = check_same_function(ExpandNorms(), model, feeds, **tolerance)
    assert (modified, op_types(after)) == (True, CENTRE + NORMAL + ["Mul"] + ["Add"] * bias)
    by_qonnx = execute_onnx(after, feeds)
    np.testing.assert_allclose(by_qonnx["y"], reference(feeds["x"], axis, epsilon, after, bias), **tolerance)


def reference(x, axis, epsilon, model, bias):
    """Compute the layer norm in double precision."""
    axes = tuple(range(axis % x.ndim, x.ndim))
    x = x.astype(np.float64)
    centred = x - x.mean(axes, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)
    return normal * model.get_initializer("s") + (model.get_initializer("b") if bias else 0)


def test_the_outputs_keep_their_names_shapes_and_consumers():
    model = layer_norm((2, 3, 8), ("y", "m", "i"), axis=1)
    model.set_tensor_datatype("y", DataType["FLOAT32"])
    after, _ = check_same_function(ExpandNorms(), model, {"x": numbers((2, 3, 8))}, **TOLERANCE)
    assert [value.name for value in after.graph.output] == ["y", "m", "i"]
    assert [after.get_tensor_shape(name) for name in ("y", "m", "i")] == [[2, 3, 8], [2, 1, 1], [2, 1, 1]]
    assert after.find_producer("m").op_type == "ReduceMean"
    assert after.find_producer("i").op_type == "Reciprocal"
    parts = ["mean", "centred", "square", "variance", "shifted", "deviation", "inverse", "normal", "scaled"]
    assert [node.name for node in after.graph.node] == [f"norm_{part}" for part in [*parts, "biased"]]


def test_scale_and_bias_that_are_no_constants():
    nodes = [helper.make_node("LayerNormalization", ["x", "s", "b"], ["y"])]
    model = make_model(nodes, {"x": (2, 4), "s": (4,), "b": (1,)}, ["y"])
    feeds = {"x": numbers((2, 4)), "s": numbers((4,), 1), "b": numbers((1,), 2)}
    after, modified = apply_once(ExpandNorms(), model)
    assert (modified, op_types(after)) == (True, CENTRE + NORMAL + ["Mul", "Add"])
    found = execute_onnx(after, feeds)["y"]
    centred = feeds["x"] - feeds["x"].mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found, normal * feeds["s"] + feeds["b"], **TOLERANCE)


def test_half_precision_is_computed_in_the_stash_type():
    model = layer_norm((3, 16), ("y", "m", "i"), elem_type=TensorProto.FLOAT16)
    feeds = {"x": numbers((3, 16), dtype=np.float16)}
    after, _ = check_same_function(ExpandNorms(), model, feeds, rtol=4e-3, atol=4e-3)
    assert op_types(after) == ["Cast", *CENTRE, *NORMAL, "Cast", "Mul", "Add"]
    kinds = {value.name: value.type.tensor_type.elem_type for value in after.graph.output}
    assert kinds == {"y": TensorProto.FLOAT16, "m": TensorProto.FLOAT, "i": TensorProto.FLOAT}


def test_a_stash_type_of_its_own_needs_no_cast():
    model = layer_norm((3, 16), elem_type=TensorProto.FLOAT16, stash_type=TensorProto.FLOAT16, bias=False)
    after, _ = apply_once(ExpandNorms(), model)
    assert op_types(after) == CENTRE + NORMAL + ["Mul"]
    epsilon = after.find_producer(after.graph.node[4].output[0]).input[1]
    assert after.get_initializer(epsilon).dtype == np.float16


def test_an_undeclared_input_is_left_alone():
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("LayerNormalization", ["r", "s"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 4)}, ["y"], {"s": numbers((4,))})
    del model.graph.value_info[:]
    after, modified = ExpandNorms().apply(model)
    assert (modified, op_types(after)) == (False, ["Relu", "LayerNormalization"])


def test_a_dynamic_batch_stays_dynamic():
    nodes = [helper.make_node("LayerNormalization", ["x", "s"], ["y"])]
    model = make_model(nodes, {"x": ("n", 4)}, ["y"], {"s": numbers((4,))})
    after, _ = ExpandNorms().apply(model)
    dims = {
        v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in after.graph.value_info
    }
    assert dims["y_normal"] == ["n", 4]
    assert dims["y_inverse"] == ["n", 1]


@settings(max_examples=30, deadline=None)
@given(shape=st.lists(st.integers(1, 5), min_size=1, max_size=4), data=st.data())
def test_rms_normalization_of_any_shape(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    node = helper.make_node("RMSNormalization", ["x", "s"], ["y"], axis=axis, epsilon=1e-4)
    model = make_model([node], {"x": shape}, ["y"], {"s": numbers(shape[axis:], 1)}, opset=23)
    x = numbers(shape)
    after, modified = apply_once(ExpandNorms(), model)
    assert (modified, op_types(after)) == (True, NORMAL + ["Mul"])
    axes = tuple(range(axis % len(shape), len(shape)))
    expected = (
        x / np.sqrt((x.astype(np.float64) ** 2).mean(axes, keepdims=True) + 1e-4) * numbers(shape[axis:], 1)
    )
    np.testing.assert_allclose(execute_onnx(after, {"x": x})["y"], expected, **TOLERANCE)


class Exporter:
    """Writes a normalisation the way that exporters do; each choice is one that some exporter makes."""

    def __init__(self, shape, axes, opset):
        self.shape, self.axes, self.opset = shape, axes, opset
        self.nodes, self.constants = [], {}

    def add(self, op_type, *inputs, **attrs):
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [output], name=f"n_{output}", **attrs))
        return output

    def constant(self, value, dtype=np.float32):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def mean(self, source):
        if self.opset >= 18:
            return self.add("ReduceMean", source, self.constant(self.axes, np.int64), keepdims=1)
        return self.add("ReduceMean", source, axes=self.axes, keepdims=1)

    def norm(self, source, rms, square, root, inverse, sub_twice, epsilon_first):
        """Return the normalised tensor, before scale and bias."""
        centred = again = source
        if not rms:
            mean = self.mean(source)
            centred = self.add("Sub", source, mean)
            again = self.add("Sub", source, mean) if sub_twice else centred
        squared = (
            self.add("Mul", again, again) if square == "Mul" else self.add("Pow", again, self.constant(2))
        )
        epsilon = self.constant(1e-5)
        added = [epsilon, self.mean(squared)] if epsilon_first else [self.mean(squared), epsilon]
        shifted = self.add("Add", *added)
        if inverse == "Pow":
            return self.add("Mul", centred, self.add("Pow", shifted, self.constant([-0.5])))
        deviation = (
            self.add("Sqrt", shifted) if root == "Sqrt" else self.add("Pow", shifted, self.constant(0.5))
        )
        if inverse == "Div":
            return self.add("Div", centred, deviation)
        if inverse == "One":
            return self.add("Mul", self.add("Div", self.constant(1), deviation), centred)
        return self.add("Mul", centred, self.add("Reciprocal", deviation))


FORMS = {
    "rms": st.booleans(),
    "square": st.sampled_from(["Mul", "Pow"]),
    "root": st.sampled_from(["Sqrt", "Pow"]),
    "inverse": st.sampled_from(["Div", "One", "Pow", "Reciprocal"]),
    "sub_twice": st.booleans(),
    "epsilon_first": st.booleans(),
}


@settings(max_examples=120, deadline=None)
@given(
    form=st.fixed_dictionaries(FORMS),
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    opset=st.sampled_from([13, 18]),
    data=st.data(),
)
def test_every_form_that_exporters_write(form, shape, opset, data):
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    negative = data.draw(st.booleans())
    exporter = Exporter(shape, [axis - len(shape) if negative else axis for axis in axes], opset)
    normal = exporter.norm("x", **form)
    kept = data.draw(st.sets(st.sampled_from([node.output[0] for node in exporter.nodes]), max_size=2))
    exporter.nodes.append(helper.make_node("Mul", [normal, exporter.constant(numbers(shape[-1:], 1))], ["y"]))
    model = make_model(exporter.nodes, {"x": shape}, ["y", *sorted(kept)], exporter.constants, opset=opset)
    feeds = {"x": numbers(shape)}
    after, modified = check_same_function(ExpandNorms(), model, feeds, **TOLERANCE)
    canonical = form["square"] == "Pow" and form["root"] == "Sqrt" and form["inverse"] == "Reciprocal"
    assert modified != (canonical and (form["rms"] or not form["sub_twice"]))
    if not kept:
        assert op_types(after) == [*([] if form["rms"] else CENTRE), *NORMAL, "Mul"]
    np.testing.assert_allclose(execute_onnx(after, feeds)["y"], execute_onnx(model, feeds)["y"], **TOLERANCE)


@settings(max_examples=60, deadline=None)
@given(
    scaled=st.booleans(),
    square=st.sampled_from(["Mul", "Pow"]),
    inverse=st.sampled_from(["Reciprocal", "One", "Pow"]),
    swaps=st.lists(st.booleans(), min_size=5, max_size=5),
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    outputs=st.sampled_from([["y"], ["y", "mean"]]),
)
def test_the_form_of_tensorflow(scaled, square, inverse, swaps, shape, outputs):
    exporter = Exporter(shape, [-1], 13)
    exporter.nodes.append(helper.make_node("ReduceMean", ["x"], ["mean"], axes=[-1], keepdims=1))
    centred = exporter.add("Sub", "x", "mean")
    squared = (
        exporter.add("Mul", centred, centred)
        if square == "Mul"
        else exporter.add("Pow", centred, exporter.constant(2))
    )
    shifted = exporter.add("Add", exporter.mean(squared), exporter.constant(1e-3))

    def commute(op_type, place, *inputs):
        return exporter.add(op_type, *(reversed(inputs) if swaps[place] else inputs))

    if inverse == "Pow":
        factor = exporter.add("Pow", shifted, exporter.constant(-0.5))
    elif inverse == "One":
        factor = exporter.add("Div", exporter.constant(1), exporter.add("Sqrt", shifted))
    else:
        factor = exporter.add("Reciprocal", exporter.add("Sqrt", shifted))
    if scaled:
        factor = commute("Mul", 0, factor, exporter.constant(numbers(shape[-1:], 1)))
    product, shift = commute("Mul", 1, "x", factor), commute("Mul", 2, "mean", factor)
    rest = exporter.add("Sub", exporter.constant(numbers(shape[-1:], 2)), shift)
    exporter.nodes.append(helper.make_node("Add", [product, rest][:: -1 if swaps[3] else 1], ["y"]))
    model = make_model(exporter.nodes, {"x": shape}, outputs, exporter.constants, opset=13)
    x = numbers(shape)
    tolerance = rounding(x, max(1, *np.abs(numbers(shape[-1:], 1))), epsilon=1e-3)
    after, modified = check_same_function(ExpandNorms(), model, {"x": x}, **tolerance)
    assert (modified, op_types(after)) == (True, [*CENTRE, *NORMAL, *["Mul"] * scaled, "Add"])


def test_the_deviation_of_another_tensor_is_no_normalisation():
    """Neither a quotient nor TensorFlow's form is one, if the variance is of another difference."""
    for folded in (False, True):
        exporter = Exporter((2, 4), [-1], 13)
        mean = exporter.mean("x")
        other = exporter.add("Sub", exporter.add("Relu", "x"), mean)
        shifted = exporter.add(
            "Add", exporter.mean(exporter.add("Mul", other, other)), exporter.constant(1e-3)
        )
        deviation = exporter.add("Sqrt", shifted)
        if folded:
            factor = exporter.add("Reciprocal", deviation)
            rest = exporter.add("Sub", exporter.constant(1), exporter.add("Mul", mean, factor))
            exporter.nodes.append(helper.make_node("Add", [exporter.add("Mul", "x", factor), rest], ["y"]))
        else:
            centred = exporter.add("Sub", "x", mean)
            exporter.nodes.append(helper.make_node("Div", [centred, deviation], ["y"]))
        model = make_model(exporter.nodes, {"x": (2, 4)}, ["y"], exporter.constants, opset=13)
        assert apply_once(ExpandNorms(), model)[1] is False


def test_a_bias_minus_another_product_is_no_normalisation():
    exporter = Exporter((2, 4), [-1], 13)
    mean = exporter.mean("x")
    centred = exporter.add("Sub", "x", mean)
    shifted = exporter.add(
        "Add", exporter.mean(exporter.add("Mul", centred, centred)), exporter.constant(1e-3)
    )
    factor = exporter.add("Reciprocal", exporter.add("Sqrt", shifted))
    shift = exporter.add("Mul", exporter.add("Relu", mean), factor)
    rest = exporter.add("Sub", exporter.constant(1), shift)
    exporter.nodes.append(helper.make_node("Add", [exporter.add("Mul", "x", factor), rest], ["y"]))
    model = make_model(exporter.nodes, {"x": (2, 4)}, ["y"], exporter.constants, opset=13)
    assert apply_once(ExpandNorms(), model)[1] is False


def test_what_is_read_elsewhere_stays():
    exporter = Exporter((2, 4), [-1], 17)
    normal = exporter.norm("x", False, "Pow", "Sqrt", "Div", True, False)
    deviation = next(node.output[0] for node in exporter.nodes if node.op_type == "Sqrt")
    exporter.nodes.append(helper.make_node("Relu", [normal], ["y"]))
    exporter.nodes.append(helper.make_node("Relu", [deviation], ["z"]))
    model = make_model(exporter.nodes, {"x": (2, 4)}, ["y", "z"], exporter.constants)
    after, _ = check_same_function(ExpandNorms(), model, {"x": numbers((2, 4))}, **TOLERANCE)
    assert sorted(op_types(after)) == sorted(
        [*CENTRE, *NORMAL, "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Relu", "Relu"]
    )


@pytest.mark.parametrize(
    "what", ["other axes", "other tensor", "dropped dimensions", "a cube", "a tensor as epsilon"]
)
def test_what_is_no_normalisation_stays(what):
    exporter = Exporter((3, 3), [-1], 17)
    mean = exporter.mean("x")
    centred = exporter.add("Sub", "x", mean)
    squared = exporter.add(
        "Pow", "x" if what == "other tensor" else centred, exporter.constant(3 if what == "a cube" else 2)
    )
    attrs = {"axes": [-1], "keepdims": int(what != "dropped dimensions")}
    variance = exporter.add("ReduceMean", squared, **attrs)
    epsilon = mean if what == "a tensor as epsilon" else exporter.constant(1e-5)
    deviation = exporter.add("Sqrt", exporter.add("Add", variance, epsilon))
    exporter.nodes.append(helper.make_node("Div", [centred, deviation], ["y"]))
    model = make_model(exporter.nodes, {"x": (3, 3)}, ["y"], exporter.constants)
    if what == "other axes":
        # The deviation is still that of `centred`: it is an RMSNorm of it, whatever the mean was taken over.
        model.graph.node[0].attribute[0].ints[0] = -2
        model.set_tensor_shape(mean, [1, 3])
        after, modified = check_same_function(ExpandNorms(), model, {"x": numbers((3, 3))}, **TOLERANCE)
        assert (modified, op_types(after)) == (True, CENTRE + NORMAL)
    else:
        assert apply_once(ExpandNorms(), model)[1] is False
