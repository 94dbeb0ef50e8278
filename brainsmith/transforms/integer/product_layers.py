"""ProductLayers: rows and windows of integers times weights, with the proven range of each sum."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.transforms.integer.integer_tensor import IntegerTensor, channels_last, multiples
from brainsmith.transforms.integer.layer_graph import QONNX
from brainsmith.transforms.integer.padding import with_border, with_zero
from brainsmith.transforms.integer.sums_of_scales import product_of
from brainsmith.transforms.integer.window_forms import dense_weights, wide_as_strides, without_single_pixels
from brainsmith.transforms.lattice.array_kinds import one_of_equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import NodeProto

    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.scaled_sum import ScaledSum
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole


class ProductLayers:
    """Makes layers of products.

    Args:
        build: Where layers are added.
    """

    def __init__(self, build: LayerBuilder) -> None:
        self._build = build
        self._graph = build.graph
        self._slid: dict[tuple[str, str], str] = {}

    def of_rows(
        self, tensor: IntegerTensor, weights: Whole, scale: Doubles, shape: Sequence[int], base: str
    ) -> IntegerTensor | ScaledSum:
        """Return sums of a row's integers times weights.

        Args:
            tensor: Rows.
            weights: (channels, results).
            scale: Of the weights, one or one for each result.
            shape: Of the result, in the network.
            base: Of the layer's name.

        Raises:
            NoLayerError: Sums are too large.
        """
        tensor = self._build.integers(tensor, base)
        found = multiples(tensor.scale)
        if found is None:
            taps = weights.T[:, :, None]
            return product_of(
                tensor,
                taps,
                scale,
                shape,
                lambda times: self._counted(tensor, weights * times.T, shape, base),
            )
        unit, times = found[0], tensor.each(found[1])
        offset = _offsets(tensor, weights) * scale
        weights = weights * times[:, None]
        return self._sums(tensor, tensor.in_layer_order(weights), weights, unit, scale, offset, shape, base)

    def _counted(
        self, tensor: IntegerTensor, weights: Whole, shape: Sequence[int], base: str
    ) -> IntegerTensor:
        """Return a product of integers that stand for themselves."""
        found = self.of_rows(_plain(tensor), weights, np.ones(1), shape, base)
        assert isinstance(found, IntegerTensor)
        return found

    def convolution(
        self,
        tensor: IntegerTensor,
        weights: Whole,
        scale: Doubles,
        node: NodeProto,
        window: dict[str, Any],
        base: str,
    ) -> IntegerTensor | ScaledSum:
        """Return a convolution of integers.

        Args:
            tensor: An image.
            weights: (results, channels of a group, height, width).
            scale: Of the weights, one or one for each result.
            node: The convolution or pool.
            window: Its `shape` in the network, `strides`, `pads`, `dilations` and `group`.
            base: Of the layer's name.

        Raises:
            NoLayerError: Padding is no integer, or sums are too large.
        """
        tensor = self._build.integers(tensor, base)
        if any(window["pads"]):
            tensor = with_zero(self._build, tensor, base)
        results = len(weights)
        given = weights
        weights, single = without_single_pixels(tensor, weights, window)
        depthwise = single["group"] == tensor.channels == len(weights)
        if multiples(tensor.scale) is None and not depthwise:
            return self._several_scales(tensor, given, scale, node, window, base)
        times = len(weights) // results
        found = self._windows(
            tensor, weights, np.tile(scale, times) if scale.size > 1 else scale, single, base
        )
        if times == 1:
            return found
        # A pixel's results lie after those of the one before, as pixels of an image do.
        pixels = found.range.at(np.arange(results)).holding(
            *(found.range.at(np.arange(at, at + results)) for at in range(0, len(weights), results))
        )
        of_one = {name: one_of_equal(getattr(found, name)) for name in ("scale", "offset")}
        of_one = {name: array if array.size == 1 else array[:results] for name, array in of_one.items()}
        name = self._graph.reshape(found.name, channels_last(window["shape"]), found.range, f"{base}_pixels")
        return IntegerTensor(name, window["shape"], pixels, **of_one)

    def _several_scales(
        self,
        tensor: IntegerTensor,
        weights: Whole,
        scale: Doubles,
        node: NodeProto,
        window: dict[str, Any],
        base: str,
    ) -> ScaledSum:
        """Return a convolution of integers whose channels' scales have no common unit."""
        dense = dense_weights(weights, window["group"], tensor.channels)
        one_group = {**window, "group": 1}

        def layers(times: Whole) -> IntegerTensor:
            whole = dense * times[:, :, None, None]
            found = self.convolution(_plain(tensor), whole, np.ones(1), node, one_group, base)
            assert isinstance(found, IntegerTensor)
            return found

        taps = dense.reshape(*dense.shape[:2], -1)
        return product_of(tensor, taps, scale, window["shape"], layers)

    def _windows(
        self, tensor: IntegerTensor, weights: Whole, scale: Doubles, window: dict[str, Any], base: str
    ) -> IntegerTensor:
        """Return sums of windows times weights; padding is 0 among the integers."""
        weights, window = wide_as_strides(tensor, weights, window)
        if tensor.shape[2] == 1 and any(window["pads"][::2]):  # QONNX's windows of one row have no padding
            tensor, window = (
                with_border(self._graph, tensor, window["pads"], base),
                {**window, "pads": [0] * 4},
            )
        results, _, height, width = weights.shape
        depthwise = window["group"] == tensor.channels == results and tensor.channels > 1
        dense = dense_weights(weights, window["group"], tensor.channels)  # (results, channels, height, width)
        offset = _offsets(tensor, dense.sum(axis=(2, 3)).T) * scale
        if depthwise:  # each result has the scale of its channel
            unit, times, scale = 1.0, np.ones(1, np.int64), scale * tensor.scale
        else:
            found = multiples(tensor.scale)
            assert found is not None
            unit, times = found
        rows = (dense * tensor.each(times)[None, :, None, None]).transpose(2, 3, 1, 0).reshape(-1, results)
        source, shape = tensor.name, window["shape"]
        if (height, width) != (1, 1) or any(window["pads"]) or any(each != 1 for each in window["strides"]):
            source = self._sliding(tensor, window, (height, width), len(rows), depthwise, base)
        taps = replace(
            tensor,
            name=source,
            range=tensor.range.at(np.tile(np.arange(tensor.channels), height * width)),
        )
        kept = (height, width) if depthwise and source != tensor.name else ()
        return self._sums(taps, rows, rows, unit, scale, offset, shape, base, kept)

    def _sliding(
        self, tensor: IntegerTensor, window: dict[str, Any], kernel: tuple[int, int], taps: int, depthwise: bool, base: str
    ) -> str:  # fmt: skip
        """Return the windows of an image, side by side; several products of the same ones read one layer."""
        _, channels, rows, columns = tensor.shape
        stated: dict[str, Any] = {
            "stride": list(window["strides"]), "kernel_size": list(kernel), "pad_amount": list(window["pads"]),
            "dilations": list(window["dilations"]), "depthwise": int(depthwise),
            "input_shape": f"(1,{rows},{columns},{channels})",
        }  # fmt: skip
        key = tensor.name, repr(stated)
        if key not in self._slid:
            shape = (1, *window["shape"][2:], taps)
            self._slid[key] = self._graph.add(
                "Im2Col", [tensor.name], f"{base}_windows", shape, tensor.range, domain=QONNX, **stated
            )
        return self._slid[key]

    def _sums(
        self, tensor: IntegerTensor, placed: Whole, weights: Whole, unit: float, scale: Doubles, offset: Doubles,
        shape: Sequence[int], base: str, depthwise: tuple[int, ...] = (),
    ) -> IntegerTensor:  # fmt: skip
        """Return the product of rows and weights, whose scales are made positive."""
        signs = np.where(scale < 0, -1, 1)
        weights, placed = weights * signs, placed * signs
        sums = tensor.range.sums(weights)
        self._build.check_sums(sums)
        name = self._graph.add(
            "MatMul", [tensor.name], base, channels_last(shape), sums,
            constant=placed.astype(np.int64), taps_of_channels=depthwise,
        )  # fmt: skip
        return IntegerTensor(name, tuple(shape), sums, unit * np.abs(scale), one_of_equal(offset))


def _plain(tensor: IntegerTensor) -> IntegerTensor:
    """Return integers that stand for themselves."""
    return replace(tensor, scale=np.ones(1), offset=np.zeros(1))


def _offsets(tensor: IntegerTensor, weights: Whole) -> Doubles:
    """Return what offsets of the channels come to, by result; weights are (channels, results)."""
    return np.asarray(tensor.each(tensor.offset) @ weights.astype(np.float64))
