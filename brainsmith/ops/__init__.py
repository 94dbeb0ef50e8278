"""Ops: what users import, and the folder of the ops that ship.

    from brainsmith import ops

    @op(name="square", num_inputs=1)
    class Square(ops.Op): ...

    y = ops.execute_custom_op("square", [x])

The names come from the rooms that make them when they are asked for (PEP 562).

This package is also the ONNX domain of ops' nodes, `brainsmith.ops`: QONNX imports it, reads in `__all__` which types of
nodes it has, and asks for the class of one. Those are not names of this package (an op may be called `Op`, or as a file
of this folder), so `__all__` holds names that nothing else can have.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.lazy_names import homes_of, lazy_names

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.autodiff import functional as functional
    from brainsmith.autodiff.batches import split_batch as split_batch
    from brainsmith.autodiff.builder import CustomOpBuilder as CustomOpBuilder
    from brainsmith.autodiff.checking.gradcheck import GradientReport as GradientReport
    from brainsmith.autodiff.checking.gradcheck import gradcheck as gradcheck
    from brainsmith.autodiff.compiling.compiled_op import CompiledOp as CompiledOp
    from brainsmith.autodiff.compiling.compiled_op import compile_op as compile_op
    from brainsmith.autodiff.compiling.compiled_op import fuse as fuse
    from brainsmith.autodiff.custom_layer import CustomLayer as CustomLayer
    from brainsmith.autodiff.exporting.export import export_onnx as export_onnx
    from brainsmith.autodiff.graphs.model_ops import check_ops as check_ops
    from brainsmith.autodiff.graphs.model_ops import load_model as load_model
    from brainsmith.autodiff.graphs.model_ops import save_model as save_model
    from brainsmith.autodiff.modes import lazy as lazy
    from brainsmith.autodiff.modes import no_grad as no_grad
    from brainsmith.autodiff.op import Gradient as Gradient
    from brainsmith.autodiff.op import Op as Op
    from brainsmith.autodiff.op_registry import execute_custom_op as execute_custom_op
    from brainsmith.autodiff.op_registry import get_custom_op as get_custom_op
    from brainsmith.autodiff.op_registry import is_custom_op_registered as is_custom_op_registered
    from brainsmith.autodiff.op_registry import list_custom_ops as list_custom_ops
    from brainsmith.autodiff.op_registry import register_custom_op as register_custom_op
    from brainsmith.autodiff.op_registry import unregister_custom_op as unregister_custom_op
    from brainsmith.autodiff.optimisers import Adam as Adam
    from brainsmith.autodiff.optimisers import Sgd as Sgd
    from brainsmith.autodiff.tape.tensor import Tensor as Tensor
    from brainsmith.autodiff.torch_function import as_torch_function as as_torch_function
    from brainsmith.autodiff.torch_function import torch_apply as torch_apply
    from brainsmith.native.isolation.shared import shared_empty as shared_empty
    from brainsmith.native.isolation.shared import shared_like as shared_like
    from brainsmith.ops.examples import register_example_custom_ops as register_example_custom_ops

_get, __dir__ = lazy_names(__name__, homes_of(__file__))


def __getattr__(name: str) -> Any:
    if name == "__all__":
        from brainsmith.autodiff.graphs.node_lookup import op_node_types

        return op_node_types()
    if hasattr(name, "op_type"):
        from brainsmith.autodiff.graphs.node_lookup import op_node_class

        return op_node_class(name.op_type)
    return _get(name)
