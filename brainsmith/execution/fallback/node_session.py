"""One standard node as a session of ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np


def open_node(node: Any, opset: int, dtypes: Mapping[str, np.dtype[Any]], outputs: Iterable[str]) -> Any:
    """Open a node in ONNX Runtime, on one thread of the processor.

    Args:
        node: Of ONNX's own operators, or of those that ONNX Runtime adds.
        opset: The version of its domain.
        dtypes: Of all tensors that it reads, those that graphs inside of it read included.
        outputs: The tensors that a run is to return.

    Raises:
        Exception: ONNX Runtime does not take it; its errors have no base class of their own.
    """
    import onnxruntime
    from onnx import helper

    def value(name: str, dtype: np.dtype[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)

    graph = helper.make_graph(
        [node],
        "one_node",
        [value(name, dtype) for name, dtype in dtypes.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    # IR version 10 is what every ONNX Runtime of the last years reads; one node needs nothing newer.
    proto = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid(node.domain, opset)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # one node gains nothing from it, and there are hundreds
    options.log_severity_level = 4  # what fails is raised; a refused batch is no message for the user
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
