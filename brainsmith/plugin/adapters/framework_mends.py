"""Corrections to QONNX and FINN: where QONNX would change what a graph computes, our transforms replace its own.

FINN's transforms call QONNX's clean-up by its classes, and so does `ModelWrapper.transform` after each transform. It is
not enough, then, that `tfm.SortGraph` is ours. QONNX's classes keep their names and arguments, and stay reachable as
`tfm.qonnx.SortGraph`; what they do to a graph is done by the transform of the same name in `brainsmith/transforms`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.adapters.completing_loader import CompletingFinder
from brainsmith.plugin.adapters.double_mends import MODELS, mend_model
from brainsmith.plugin.adapters.finn_mends import (
    mend_builder,
    mend_flattens,
    mend_moves,
    mend_pools,
    mend_windows,
    skip_where,
)
from brainsmith.plugin.adapters.graph_edits import (
    bypass_node,
    give_own_quantiser,
    rename_tensors,
    shapes_stated,
)
from brainsmith.plugin.adapters.packed_integers import mend_packing
from brainsmith.plugin.environments.op_lookup import offer_foreign_ops
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.pages import show_graphs

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from onnx import NodeProto

REPLACED = {
    "qonnx.transformation.general": ("GiveReadableTensorNames", "RemoveUnusedTensors", "SortGraph"),
    "qonnx.transformation.remove": ("RemoveIdentityOps",),
    "qonnx.transformation.fold_constants": ("FoldConstants",),
    "qonnx.transformation.infer_datatypes": ("InferDataTypes",),
}
"""The classes whose work is done by our transforms of the same name, by module."""


def mend_frameworks() -> None:
    """Mend QONNX's and FINN's classes, those imported already and those that will be; call it before their use.

    Idempotent and safe with many threads. It imports nothing of either. Without QONNX, which FINN needs, it does nothing.
    """
    if _FINDER.begin("qonnx") is not None:
        _FINDER.complete_imported()


def _mend_transforms(module: ModuleType) -> None:
    for name in REPLACED[module.__name__]:
        replaced = getattr(module, name, None)
        if replaced is not None:
            replaced.apply = _work_of(name)


def _work_of(name: str) -> Callable[[Any, Any], tuple[Any, bool]]:
    """Return an `apply` that does what our transform does, with the arguments that QONNX's was made with."""
    ours: list[Any] = []

    def apply(self: Any, model: Any) -> tuple[Any, bool]:
        if not ours:
            ours.append(get_plugin_manager().all_records()[0].get("transform", f"brainsmith:{name}"))
        result: tuple[Any, bool] = ours[0].apply(self, model)
        return result

    return apply


def _mend_removal(module: ModuleType) -> None:
    _mend_transforms(module)
    # An identity is one exactly, unless a caller asks for a tolerance.
    module.RemoveIdentityOps.__init__.__defaults__ = (0.0,)
    # FINN's modules may have imported the function already, so it is the function that changes, not the name.
    module.remove_node_and_rewire.__code__ = _remove_node_and_rewire.__code__


def _remove_node_and_rewire(model: Any, node: NodeProto) -> None:
    from brainsmith.plugin.adapters.framework_mends import remove_node  # this code runs among QONNX's names

    remove_node(model, node)


def remove_node(model: Any, node: NodeProto) -> None:
    """Remove a node that computes nothing, or replace it by an Identity where the graph needs a node.

    As in QONNX, a node that joins branches is not removed.
    """
    if model.is_join_node(node):
        warnings.warn(
            "a node that joins branches is not removed: " + (node.name or node.op_type), stacklevel=3
        )
    elif not bypass_node(model.graph, node):
        del node.attribute[:], node.input[1:]
        node.op_type, node.domain = "Identity", ""


def _mend_clean_up(module: ModuleType) -> None:
    """Let the clean-up after every transform look at a graph once where there is nothing to do.

    QONNX's own searches all initialisers for each input of a node, so a network of many layers took the square of them.
    """
    _mend_transforms(module)
    for name, is_done in (
        ("GiveUniqueParameterTensors", _reads_initialisers_once),
        ("SortCommutativeInputsInitializerLast", _has_initialisers_last),
    ):
        skip_where(getattr(module, name), is_done)


def _reads_initialisers_once(_: Any, model: Any) -> bool:
    graph = model.graph
    initialisers = {tensor.name for tensor in graph.initializer}
    read = [name for node in graph.node for name in node.input if name in initialisers]
    return len(set(read)) == len(read)


def _has_initialisers_last(transform: Any, model: Any) -> bool:
    initialisers = {tensor.name for tensor in model.graph.initializer}
    commutative = (node for node in model.graph.node if node.op_type in transform.SUPPORTED_COMMUTATIVE_OPS)
    orders = ([name in initialisers for name in node.input] for node in commutative)
    return all(order == sorted(order) for order in orders)


def _mend_wrapper(module: ModuleType) -> None:
    def rename_tensor(self: Any, old_name: str, new_name: str) -> None:
        """Rename a tensor from old_name to new_name."""
        rename_tensors(self.graph, {old_name: new_name})

    def is_join_node(self: Any, node: NodeProto) -> bool:
        """Tell whether a node reads several tensors that are no constants, or one of them several times."""
        constants = {tensor.name for tensor in self.graph.initializer}
        return sum(bool(name) and name not in constants for name in node.input) > 1

    checked_one_by_one = module.ModelWrapper.check_all_tensor_shapes_specified

    def check_all_tensor_shapes_specified(self: Any, fix_missing_init_shape: bool = False) -> bool:
        """Tell whether all tensors have a shape; those of initialisers are stated too, if asked for."""
        found = shapes_stated(self.graph, fix_missing_init_shape)
        return bool(checked_one_by_one(self, fix_missing_init_shape)) if found is None else found

    show_graphs(module)
    module.ModelWrapper.check_all_tensor_shapes_specified = check_all_tensor_shapes_specified
    module.ModelWrapper.rename_tensor = rename_tensor
    module.ModelWrapper.is_join_node = is_join_node


def _mend_folded_transposes(module: ModuleType) -> None:
    """Let a transposed constant with other readers have a quantiser of its own: QONNX takes away theirs."""
    folded = module.FoldTransposeIntoQuantInit.apply

    def apply(self: Any, model: Any) -> tuple[Any, bool]:
        for node in model.graph.node[:]:
            if node.op_type == "Transpose":
                give_own_quantiser(model, node, module.is_quant_init)
        result: tuple[Any, bool] = folded(self, model)
        return result

    module.FoldTransposeIntoQuantInit.apply = apply


_FINDER = CompletingFinder(
    {
        **dict.fromkeys(REPLACED, _mend_transforms),
        "qonnx.transformation.general": _mend_clean_up,
        "qonnx.transformation.remove": _mend_removal,
        "qonnx.transformation.quant_constant_folding": _mend_folded_transposes,
        "qonnx.core.modelwrapper": _mend_wrapper,
        "qonnx.custom_op.registry": offer_foreign_ops,
        **dict.fromkeys(MODELS, mend_model),
        "finn.transformation.fpgadataflow.convert_to_hw.pool_from_reduce": mend_pools,
        "finn.transformation.move_reshape": mend_flattens,
        "finn.transformation.streamline.reorder": mend_moves,
        "finn.builder.build_dataflow": mend_builder,
        "finn.util.data_packing": mend_packing,
        "finn.custom_op.fpgadataflow.rtl.convolutioninputgenerator_rtl": mend_windows,
    }
)
