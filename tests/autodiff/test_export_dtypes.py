"""A model is valid in every dtype and for arrays without axes, or the export says what to do."""

import numpy as np
import pytest
from onnx.checker import check_model
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith import ops
from brainsmith.autodiff import functional as F
from brainsmith.errors import OpError

STEPS = {
    **{name: getattr(F, name) for name in ("exp", "log1p", "sqrt", "abs", "erf", "relu", "floor", "round")},
    **{name: getattr(F, name) for name in ("sum", "mean", "max", "argmax", "softmax", "log_softmax", "layer_norm")},
    "add": lambda x: x + x,
    "power": lambda x: x**x,
    "matmul": lambda x: x @ x.T,
    "greater": lambda x: x > x,
    "logical_not": F.logical_not,
    "clip": lambda x: F.clip(x, 1, 2),
    "where": lambda x: F.where(F.cast(x, bool), x, x),
    "concat": lambda x: F.concat([x, x]),
    "max_pool2d": lambda x: F.max_pool2d(F.reshape(x, (1, 1, 2, 3)), 2, 1),
    "pad": lambda x: F.pad(x, [(0, 1), (1, 0)]),
    "gather": lambda x: F.gather(x, [1, 0]),
}  # fmt: skip


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool"]
)
@pytest.mark.slow
def test_a_model_is_valid_or_refused(dtype):
    refused = []
    for name, step in STEPS.items():
        x = ops.Tensor(np.array([[1, 2, 3], [3, 1, 2]]).astype(dtype))
        try:
            y = step(x)
        except OpError:
            continue  # numpy itself does not compute it
        try:
            model = ops.export_onnx({"y": y}, {"x": x})
        except OpError as error:
            assert " cannot be exported: ONNX's " in str(error)
            assert "; cast first: functional.cast(x, " in str(error)
            refused.append(name)
            continue
        check_model(model.model, full_check=True)
    assert ("floor" in refused) == (not dtype.startswith("float"))
    assert "sum" not in refused


def exported(step, *values):
    x = ops.Tensor(*values)
    return ops.export_onnx({"y": step(x)}, {"x": x})


@pytest.mark.parametrize(
    ("step", "values", "message"),
    [
        (
            F.floor,
            np.array([1, 2]),
            "operation 'floor' with int64 for input 0 cannot be exported: ONNX's Floor takes float32, float64, float16 "
            "there; cast first: functional.cast(x, 'float32')",
        ),
        (
            F.logical_not,
            np.array([1.5]),
            "operation 'logical_not' with float64 for input 0 cannot be exported: ONNX's Not takes bool there; "
            "cast first: functional.cast(x, 'bool')",
        ),
        (
            F.softmax,
            np.array(1.5),
            "operation 'softmax' on an array of shape () cannot be exported: ONNX's Softmax has no form for it (integer "
            "modulo by zero); give it another shape: functional.reshape(x, (1,))",
        ),
    ],
)
def test_what_onnx_has_no_operator_for_is_said(step, values, message):
    with pytest.raises(OpError) as caught:
        exported(step, values)
    assert str(caught.value) == message


NUMBER_STEPS = {
    **{name: getattr(F, name) for name in ("sum", "mean", "max", "min", "var", "argmax", "transpose")},
    **{name: getattr(F, name) for name in ("log1p", "expm1", "exp", "round", "squeeze")},
    "sum of the last axis": lambda x: F.sum(x, axis=-1, keepdims=True),
    "max of the first axis": lambda x: F.max(x, axis=0),
    "over no axis": lambda x: F.sum(F.reshape(x, (1, 1)), axis=()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBER_STEPS)
def test_a_number_is_exported(name):
    x = ops.Tensor(np.float32(1.5))
    y = NUMBER_STEPS[name](x)
    model = ops.export_onnx({"y": y}, {"x": x}).transform(InferShapes())
    found = execute_onnx(model, {"x": x.numpy()})["y"]
    assert (found.shape, found.dtype) == (y.shape, y.dtype)
    np.testing.assert_allclose(found, y.numpy(), rtol=1e-6)


def test_reducing_no_axis_keeps_all():
    x = ops.Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))
    y = F.sum(x, axis=())
    model = ops.export_onnx({"y": y}, {"x": x})
    assert execute_onnx(model, {"x": x.numpy()})["y"].tolist() == y.numpy().tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int8", "bool"])
def test_sigmoid_of_integers(dtype):
    given = np.array([0, 1, 100]).astype(dtype)
    expected = 1 / (1 + np.exp(-given.astype(np.float64)))
    np.testing.assert_allclose(F.sigmoid(given), expected, rtol=1e-3)
