"""A node of the domain `brainsmith.ops` whose op is not here: we report that, not ONNX Runtime.

QONNX hands a node whose type its domain does not have to ONNX Runtime, which reports an invalid model. So the domain
has all types, and a node of one that does not exist raises what is missing when QONNX makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.custom_op.base import CustomOp

from brainsmith.autodiff.graphs.missing_op import missing_text
from brainsmith.autodiff.graphs.node_lookup import OPS_DOMAIN, op_node_class
from brainsmith.autodiff.op_registry import is_custom_op_registered
from brainsmith.errors import MissingOpError
from brainsmith.plugin.node_types import forget_type

if TYPE_CHECKING:
    from onnx import NodeProto


class MissingOpNode(CustomOp):  # type: ignore[misc]
    """A node of an op that was not registered when QONNX looked for it."""

    def __new__(cls, onnx_node: NodeProto, *given: Any, **options: Any) -> Any:
        """Return the node of the op if that has been registered since QONNX looked.

        Raises:
            MissingOpError: It has not; the message says who offers it.
        """
        name = onnx_node.op_type
        forget_type(OPS_DOMAIN, name)  # QONNX would keep this class, and list the type as one that is there
        if is_custom_op_registered(name):
            return op_node_class(name)(onnx_node, *given, **options)
        raise MissingOpError(f"node {onnx_node.name!r} {missing_text(name, {})}")
