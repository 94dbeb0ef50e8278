"""Evaluate a network in double precision, and say where a quantiser's input is too near to a tie for float32.

With scales that are no powers of two, float32 rounds in front of every quantiser, so on which side of a tie a value falls
is no question of right or wrong. Such samples are known by the distance of each quantiser's input from the nearest value
at which its result changes, and by a quantiser whose result in float32 is another one: a sum that cancels to exactly 0 may
leave 1e-7 there, which CEIL takes to 1. So is which of two equal values an arg-max finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from tests.hunt.writer import CUSTOM

NEAR = 2.0**-16
"""Distance from a tie, as a part of the tensor's largest value (of 1, if that is less), below which float32 may decide."""

RELATIVE = 1e-5
"""Difference of a quantiser's results in QONNX and in double precision up to which they are the same level."""


def undecided(model: ModelProto, sample: np.ndarray) -> bool:
    """Tell whether float32's rounding decides, or did decide in QONNX, what a quantiser or an arg-max gives."""
    names = [node.output[0] for node in model.graph.node if node.op_type in ("Quant", "BipolarQuant")]
    chosen = [(node.input[0], _axis(node)) for node in model.graph.node if node.op_type == "TopK"]
    watched = [*names, *(name for name, _ in chosen)]
    double = _in_double(model)
    del double.graph.output[:]
    double.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in watched)
    _Quant.nearest = np.inf
    evaluator = ReferenceEvaluator(double, new_ops=[_Quant, _BipolarQuant])
    exact = evaluator.run(watched, {"x": sample.astype(np.float64)})
    rivals = zip(exact[len(names) :], (axis for _, axis in chosen), strict=True)
    if _Quant.nearest < NEAR or any(_has_two_largest(values, axis) for values, axis in rivals):
        return True
    wrapper = ModelWrapper(model, make_deepcopy=True).transform(InferShapes())
    single = execute_onnx(wrapper, {"x": sample}, return_full_exec_context=True)
    return any(
        not np.allclose(level, single[name], rtol=RELATIVE, atol=0.0)
        for name, level in zip(names, exact[: len(names)], strict=True)
    )


def _axis(node: NodeProto) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "axis"), -1)


def _has_two_largest(values: np.ndarray, axis: int) -> bool:
    """Tell whether the two largest values along an axis are too near to each other for float32."""
    if values.shape[axis] < 2:
        return False
    second, first = np.moveaxis(np.sort(values, axis=axis), axis, 0)[-2:]
    return bool(np.min(first - second) < NEAR * max(1.0, float(np.max(np.abs(values)))))


def _in_double(model: ModelProto) -> ModelProto:
    double = ModelProto()
    double.CopyFrom(model)
    for tensor in double.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float64), tensor.name))
    return double


class _Quant(OpRun):
    op_domain = CUSTOM
    nearest = np.inf

    def _run(self, x: Any, scale: Any, zero: Any, bits: Any, **attributes: Any) -> tuple[Any]:
        from qonnx.custom_op.general.intquant import int_quant

        settings = [
            attributes.get(name, getattr(self, name, None)) for name in ("signed", "narrow", "rounding_mode")
        ]
        steps = x / scale + zero
        places = steps + 0.5 if "ROUND" in settings[2] or "HALF" in settings[2] else steps
        distances = np.where(x == 0.0, np.inf, np.abs(places - np.round(places)))  # 0 is exact
        _note(distances, np.max(np.abs(steps), initial=1.0))
        return (np.asarray(int_quant(x, scale, zero, bits, *settings), x.dtype),)


_Quant.__name__ = "Quant"


class _BipolarQuant(OpRun):
    op_domain = CUSTOM

    def _run(self, x: Any, scale: Any, **_: Any) -> tuple[Any]:
        _note(x, np.max(np.abs(x), initial=1.0))
        return (np.where(x >= 0, scale, -scale).astype(x.dtype),)


_BipolarQuant.__name__ = "BipolarQuant"


def _note(distances: np.ndarray, size: float) -> None:
    _Quant.nearest = min(_Quant.nearest, float(np.min(np.abs(distances), initial=np.inf)) / float(size))
