"""InferPad: constant padding along any axes into Pad kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from onnx import TensorProto

from brainsmith.plugin.core import transform
from brainsmith.rtl.cores.integers import padded_datatype
from brainsmith.transforms.graph_view import GraphView, attribute, kernel_node
from brainsmith.transforms.node_chains import RESHAPES, chain_before, chain_behind
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    from onnx import NodeProto


class _Border(NamedTuple):
    before: list[int]
    after: list[int]
    value: int


@transform(
    kernel="Pad",
    description="Convert Pad of integers, along any axes and with any integer, into Pad kernels",
)
class InferPad(NodeRewrite):
    """Convert Pad of integers into the Pad kernel, where it puts a constant integer around.

    Reshapes before and after become part of it, so that Reshape, Pad, Reshape can put values between entries, as a
    transposed convolution needs. Left alone: other modes (`reflect`, `edge`, `wrap`), amounts that are computed or
    negative, floats, shapes that are not known.
    """

    op_types = ("Pad",)

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Convert a node that surrounds integers with one."""
        chain = [*chain_before(view, node, *RESHAPES), node, *chain_behind(view, node, *RESHAPES)]
        source, output = chain[0].input[0], chain[-1].output[0]
        within, in_shape, out_shape = (
            view.static_shape(name, TensorProto.FLOAT) for name in (node.input[0], source, output)
        )
        if within is None or in_shape is None or out_shape is None or view.constant(source) is not None:
            return False
        border, given = _border(view, node, len(within)), view.model.get_tensor_datatype(source)
        if border is None or not given.is_integer():
            return False
        wanted = padded_datatype(given, border.value)
        new = kernel_node(
            "PadKernel",
            [source],
            [output],
            name=node.name,
            in_shape=in_shape,
            within_shape=within,
            before=border.before,
            after=border.after,
            value=border.value,
            out_shape=out_shape,
            inputDataType=given.name,
            outputDataType=wanted.name,
            SIMD=1,
        )
        unread = [name for one in chain for name in one.input if name != source]
        view.replace(chain[-1], [new], unread)
        view.model.set_tensor_datatype(output, wanted)
        return True


def _border(view: GraphView, node: NodeProto, rank: int) -> _Border | None:
    """Return what a Pad puts around a tensor, or None where it is no constant integer around all of it."""
    stated = [view.constant(name) if name else None for name in (*node.input[1:], "", "", "")[:3]]
    known = [not name or value is not None for name, value in zip(node.input[1:], stated, strict=False)]
    pads, value, axes = stated
    number = 0.0 if value is None else float(value.reshape(-1)[0])
    if attribute(node, "mode", b"constant") != b"constant" or not all(known) or not number.is_integer():
        return None
    if pads is None or pads.min(initial=0) < 0:
        return None
    before, after = np.zeros(rank, np.int64), np.zeros(rank, np.int64)
    places = np.arange(rank) if axes is None else axes.reshape(-1)
    before[places], after[places] = pads.reshape(2, -1)
    return _Border(before.tolist(), after.tolist(), int(number))
