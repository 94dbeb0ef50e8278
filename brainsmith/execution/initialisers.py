"""The constants of a model, as they are computed with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions.checks import annotated

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

Array = np.ndarray[Any, Any]


def initialisers(model: ModelWrapper) -> dict[str, Array]:
    """Read the initialisers, rounded to their datatype annotations once instead of at every use.

    Raises:
        BuildError: One that a node reads is not what it is annotated as.
    """
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name in {name for node in model.graph.node for name in node.input} & set(constants):
        constants[name] = _as_annotated(name, constants[name], model.get_tensor_datatype(name))
    return constants


def _as_annotated(name: str, values: Array, datatype: BaseDataType) -> Array:
    from qonnx.util.basic import get_execution_error_thresh

    if not datatype.is_integer():
        return values
    return annotated(
        values,
        tensor=name,
        datatype=datatype.name,
        low=float(datatype.min()),
        high=float(datatype.max()),
        holes="" if datatype.allowed(0) else "bipolar",
        threshold=get_execution_error_thresh(),
        settled=True,
    )
