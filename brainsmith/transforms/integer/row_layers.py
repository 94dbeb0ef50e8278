"""RowLayers: products of two computed matrices, and functions of rows with a quantiser after them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from onnx import NodeProto, helper

from brainsmith.graph.integer_range import within
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.layer_graph import QONNX
from brainsmith.transforms.integer.no_layer import NO_REASON, NoLayerError, Reason
from brainsmith.transforms.integer.row_function import float_ranges
from brainsmith.transforms.integer.whole_factors import float_steps

if TYPE_CHECKING:
    from brainsmith.transforms.integer.host_part import HostPart, HostTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layouts import Layouts, Value
    from brainsmith.transforms.integer.row_function import RowFunction
    from brainsmith.transforms.lattice.staircases import Staircase


class RowLayers:
    """Makes the layers of an attention.

    Args:
        build: Where layers are added.
        layouts: Brings tensors into the order of the network's axes.
        host: Writes floats of integers.
    """

    def __init__(self, build: LayerBuilder, layouts: Layouts, host: HostPart) -> None:
        self._build = build
        self._layouts = layouts
        self._host = host

    def product(self, left: Value, right: Value, shape: tuple[int, ...], base: str) -> Value:
        """Return the product of two matrices of integers, or of two stacks of them.

        Raises:
            NoLayerError: Zero is none of their values, their stacks differ, or sums are too large.
        """
        first, second = (
            self._from_zero(self._stack(each, f"{base}_{at}"), f"{base}_{at}")
            for at, each in enumerate((left, right))
        )
        if len(second.shape) > 2 and second.shape[:-2] != first.shape[:-2]:
            raise NoLayerError(
                "its factors are stacks of different numbers of matrices",
                "repeat matrices, until both have the same number",
            )
        sums = first.range.of_all().times(second.range.of_all()).times(first.shape[-1])
        self._build.check_sums(sums)
        placed = (*first.shape[:-1], second.shape[-1])
        name = self._build.graph.add("MatMul", [first.name, second.name], base, placed, sums)
        found = IntegerTensor(name, placed, sums, first.scale * second.scale, np.zeros(1))
        return self._layouts.reshaped(found, shape, base)

    def quantised(self, function: RowFunction, staircase: Staircase, base: str) -> Value:
        """Return a quantiser's levels of a function of rows: thresholds of floats, which kernels make integers of.

        Raises:
            NoLayerError: It falls where the function rises, or its channels are those of another axis.
        """
        row = replace(function.chain, shape=(1, function.shape[-1]))
        if staircase.channels > 1 and (staircase.axis, staircase.channels) != (-1, row.channels):
            raise NoLayerError(
                "its scale is neither one number nor one for each channel",
                "quantise with one scale for all values, or with one for each channel",
            )
        if (row.direction < 0).any():
            raise NoLayerError(
                "a factor below 0 lies between the function and its quantiser",
                "use a factor above 0 there",
            )
        floats = self._floats(function, base)
        rows, low = float_ranges(
            np.repeat(float_steps(row, staircase), staircase.step, axis=1), staircase.low
        )
        reached = within(low, low + rows.shape[1])
        layout = {2: "NC", 3: "NWC"}[len(floats.shape)]
        name = self._build.graph.add(
            "MultiThreshold", [floats.name], base, floats.shape, reached, constant=rows, domain=QONNX,
            out_dtype="UINT1", out_scale=1.0, out_bias=float(low), data_layout=layout,
        )  # fmt: skip
        scale = np.ones(1) if staircase.scale is None else staircase.scale.astype(np.float64).reshape(-1)
        return self._layouts.reshaped(
            IntegerTensor(name, floats.shape, reached, scale, np.zeros(1)), function.shape, base
        )

    def floats(self, function: RowFunction, base: str, reason: Reason) -> HostTensor:
        """Return a function of rows as floats: a kernel may compute it, and the host what is pending.

        Raises:
            NoLayerError: Its integers have no scale in common.
        """
        found = replace(self._floats(function, base), reason=reason)
        if found.shape != function.shape:
            found = self._host.reshaped(found, function.shape)
        return self._host.linked(function.chain.links, found, reason)

    def _floats(self, function: RowFunction, base: str) -> HostTensor:
        """Apply the operator to the floats that the integers stand for."""
        source = self._stack(function.source, base)
        node = NodeProto()
        node.CopyFrom(function.node)
        for each in [each for each in node.attribute if each.name == "axis"]:
            node.attribute.remove(each)
        node.attribute.append(helper.make_attribute("axis", -1))
        given = self._host.floats(source)
        found = self._host.apply(node, {node.input[0]: given}, NO_REASON)[0]
        return self._host.shaped(found, source.shape)

    def _stack(self, value: Value, base: str) -> IntegerTensor:
        """Return matrices one after the other, (matrices, rows, columns) or (rows, columns), of one scale and offset.

        Raises:
            NoLayerError: It has more axes, or no such scale.
        """
        shape = value.shape
        if len(shape) > 3:
            value = self._layouts.reshaped(value, (int(np.prod(shape[:-2])), *shape[-2:]), base)
        tensor = self._layouts.settled(value, base, in_order=True)
        found = self._layouts.of_one_scale(tensor, base)
        if found.scale[0] < 0:
            minus = np.full(1, -1)
            found = replace(self._build.scaled(found, minus, f"{base}_turned"), scale=-found.scale)
        return found

    def _from_zero(self, tensor: IntegerTensor, base: str) -> IntegerTensor:
        """Return integers of which 0 stands for 0."""
        whole = np.rint(tensor.offset / tensor.scale).astype(np.int64)
        if not np.array_equal(whole * tensor.scale, tensor.offset):
            raise NoLayerError(
                "its factors have an offset that is not a multiple of their scale",
                "use zero points that are whole numbers",
            )
        return replace(self._build.shifted(tensor, whole, f"{base}_shifted"), offset=np.zeros(1))
