"""Evaluate a network in double precision, and say where a quantiser's input is too near to a tie for float32.

With scales that are no powers of two, float32 rounds in front of every quantiser, so on which side of a tie a value falls
is no question of right or wrong. Such samples are known by the distance of each quantiser's input from the nearest value
at which its result changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from tests.hunt.writer import CUSTOM

NEAR = 2.0**-16
"""Distance from a tie, as a part of the largest value of the tensor, below which float32 may decide either way."""


def undecided(model: ModelProto, sample: np.ndarray) -> bool:
    """Tell whether any quantiser's input lies so near to a tie that float32's rounding decides."""
    double = ModelProto()
    double.CopyFrom(model)
    for tensor in double.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float64), tensor.name))
    _Quant.nearest = np.inf
    ReferenceEvaluator(double, new_ops=[_Quant, _BipolarQuant]).run(None, {"x": sample.astype(np.float64)})
    return bool(_Quant.nearest < NEAR)


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
