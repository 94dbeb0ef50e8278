"""InferShuffle: transposes on the chip, with the reshapes around them, into Shuffle kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx import TensorProto

from brainsmith.graph.ends import input_values
from brainsmith.kernels.axes import moves_nothing
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, kernel_node
from brainsmith.transforms.node_chains import RESHAPES, chain_before, chain_behind
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

SCALES = ("Mul", "Add", "Sub", "Div")
"""Operators that the host computes after the accelerator, where they are floats."""


class _Rearrangement(NamedTuple):
    """Reshapes, transposes one after the other, and reshapes: the nodes, and what they are together."""

    nodes: list[NodeProto]
    shape: list[int]
    perm: list[int]

    @property
    def source(self) -> str:
        return str(self.nodes[0].input[0])

    @property
    def output(self) -> str:
        return str(self.nodes[-1].output[0])


@transform(
    kernel="Shuffle",
    description="Convert transposes between layers, with the reshapes around them, into Shuffle kernels",
)
class InferShuffle(NodeRewrite):
    """Convert transposes of integers into the Shuffle kernel.

    Reshapes (Flatten, Squeeze and Unsqueeze too) before and after become part of it, and transposes that follow
    each other are one. One that only changes the shape, such as a transpose of axes of length 1, becomes a Reshape.

    Left alone: transposes at the ends of the network, because the host can bring data into any layout (in front, they
    have nothing before them; behind, only reshapes, transposes and float scales follow); floats; shapes that are not
    known; a transpose whose tensors inside the chain are read elsewhere is converted without them.

    Args:
        ends: Convert transposes at the ends of the network too.
        where: Asked of the model and the first transpose of a chain whether it is to be converted; all are by default.
    """

    op_types = ("Transpose",)

    def __init__(
        self, ends: bool = False, where: Callable[[ModelWrapper, NodeProto], bool] | None = None
    ) -> None:
        super().__init__()
        self.ends = ends
        self.where = where

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Convert the transposes and reshapes that a transpose is the first one of."""
        chain = _chain(view, node)
        if chain is None or not view.model.get_tensor_datatype(chain.source).is_integer():
            return False
        if not self.ends and (_begins(view, chain.source) or _belongs_to_host(view, chain.output)):
            return False
        if self.where is not None and not self.where(view.model, node):
            return False
        _replace(view, chain)
        return True


def _chain(view: GraphView, node: NodeProto) -> _Rearrangement | None:
    """Return the chain that a transpose is the first one of; None if it is not, or a shape is not known."""
    before, after = chain_before(view, node, *RESHAPES), [node]
    head = before[0] if before else node
    if not before and chain_before(view, node, "Transpose"):
        return None
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    ends = [view.static_shape(name, TensorProto.FLOAT) for name in (head.input[0], node.output[0])]
    if shape is None or None in ends:
        return None
    perm = list(range(len(shape)))
    for one in (node, *chain_behind(view, node, "Transpose")):
        order = list(attribute(one, "perm", list(reversed(range(len(shape))))))
        perm = [perm[axis] for axis in order]
        after += [] if one is node else [one]
    reshapes = [
        one
        for one in chain_behind(view, after[-1], *RESHAPES)
        if view.static_shape(one.output[0], TensorProto.FLOAT)
    ]
    return _Rearrangement([*before, *after, *reshapes], shape, perm)


def _begins(view: GraphView, name: str) -> bool:
    """Tell whether a tensor is an input of the network, as it is or reshaped."""
    while True:
        node = view.producer(name, *RESHAPES)
        if node is None:
            return any(value.name == name for value in input_values(view.graph))
        name = node.input[0]


def _belongs_to_host(view: GraphView, name: str) -> bool:
    """Tell whether nothing but reshapes, transposes and float scales follow a tensor."""
    for node in view.nodes_reading(name):
        scale = is_standard(node, *SCALES) and not view.model.get_tensor_datatype(node.output[0]).is_integer()
        if not scale and not is_standard(node, "Transpose", *RESHAPES):
            return False
        if not _belongs_to_host(view, node.output[0]):
            return False
    return True


def _replace(view: GraphView, chain: _Rearrangement) -> None:
    """Put a kernel in place of a chain, or a reshape where it moves nothing."""
    datatype = view.model.get_tensor_datatype(chain.source)
    in_shape = view.static_shape(chain.source, TensorProto.FLOAT)
    out_shape = view.static_shape(chain.output, TensorProto.FLOAT)
    first = next(node for node in chain.nodes if node.op_type == "Transpose")
    if moves_nothing(chain.shape, chain.perm):
        new = view.reshape(chain.source, chain.output, out_shape or [], first.name or chain.output)
    else:
        new = kernel_node(
            "ShuffleKernel",
            [chain.source],
            [chain.output],
            name=first.name,
            in_shape=in_shape,
            transpose_in_shape=chain.shape,
            perm=chain.perm,
            out_shape=out_shape,
            inputDataType=datatype.name,
            SIMD=1,
        )
    unread = [name for node in chain.nodes for name in node.input if name != chain.source]
    view.replace(chain.nodes[-1], [new], unread)
    view.model.set_tensor_datatype(chain.output, datatype)
