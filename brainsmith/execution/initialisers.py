"""The constants of a model, as they are computed with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.program.functions.datatype_checks import annotated
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper


def initialisers(model: ModelWrapper) -> dict[str, Array]:
    """Read the initialisers, rounded to their datatype annotations once instead of at every use.

    Raises:
        BuildError: One that a node reads is not what it is annotated as.
    """
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name in {name for node in model.graph.node for name in node.input} & set(constants):
        datatype = model.get_tensor_datatype(name)
        if datatype.is_integer():
            constants[name] = annotated(constants[name], **check_of(name, datatype))
    return constants


def check_of(name: str, datatype: BaseDataType, settled: bool = True) -> dict[str, Any]:
    """Return the parameters of the instruction that holds a tensor to its datatype of whole numbers.

    Args:
        name: Of the tensor.
        datatype: With which it is annotated.
        settled: The annotation says already what the tensor holds.
    """
    from qonnx.util.basic import get_execution_error_thresh

    return {
        "tensor": name,
        "datatype": datatype.name,
        "low": float(datatype.min()),
        "high": float(datatype.max()),
        "holes": "" if datatype.allowed(0) else "bipolar",
        "threshold": get_execution_error_thresh(),
        "settled": settled,
    }
