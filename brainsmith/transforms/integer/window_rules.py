"""WindowRules: operators that slide windows over an image, or along one dimension, and sums over whole axes."""

from __future__ import annotations

from math import lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.fallback.node_session import open_node
from brainsmith.transforms.graph_view import attribute, is_standard, opset
from brainsmith.transforms.integer.constant_weights import integer_weights
from brainsmith.transforms.integer.layer_rules import LayerRules
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.transposed_convolution import as_blocks, dense_transposed

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layouts import Layouts, Value
    from brainsmith.transforms.integer.scaled_sum import ScaledSum
    from brainsmith.transforms.integer.structure_rules import StructureRules
    from brainsmith.transforms.lattice.array_kinds import Whole


class WindowRules(LayerRules):
    """Finds what such an operator gives.

    Args:
        view: The network.
        build: Where layers are added.
        layouts: Moves tensors.
        structure: Cuts windows.
        why_batch: Why the batch is not 1; empty if it is.
    """

    def __init__(
        self,
        view: GraphView,
        build: LayerBuilder,
        layouts: Layouts,
        structure: StructureRules,
        why_batch: str,
    ) -> None:
        super().__init__(view, build, layouts)
        self._structure = structure
        self._why_batch = why_batch

    def has(self, node: NodeProto) -> bool:
        """Tell whether it knows an operator."""
        return is_standard(node, *_RULES)

    def result(self, node: NodeProto, value: Value, base: str) -> Value:
        """Return what an operator gives.

        Raises:
            NoLayerError: No layer of integers does it.
        """
        found = _RULES[node.op_type](self, node, value, base)
        return self._layouts.reshaped(found, self._view.shape(node.output[0]), base)

    def biased(
        self, node: NodeProto, found: IntegerTensor | ScaledSum, times: int = 1
    ) -> IntegerTensor | ScaledSum:
        """Return a result with the node's bias, which is repeated so many times along the channels."""
        if len(node.input) < 3 or not node.input[2]:
            return found
        bias = self._view.constant(node.input[2])
        if bias is None or bias.size * times not in (times, found.shape[1]):
            raise NoLayerError(
                "its bias is not constant, or not one number for each channel",
                "make it a constant with one number for each channel",
            )
        each = bias.reshape(-1) if bias.size == 1 else np.tile(bias.reshape(-1), times)
        return self._build.with_offset(found, node, each)

    def _image(self, value: Value, base: str) -> IntegerTensor:
        """Return an image of a batch of one, over which windows slide."""
        if len(value.shape) not in (3, 4) or value.shape[0] != 1:
            why = f"; {self._why_batch}" if self._why_batch else ""
            raise NoLayerError(
                f"it slides over the shape {list(value.shape)}, and layers take one image, (1, C, H, W) or (1, C, L){why}",
                "give it one image: a batch of 1, and 3 or 4 axes",
            )
        return self._layouts.image(value, base)

    def _window(self, node: NodeProto, tensor: IntegerTensor) -> dict[str, Any]:
        """Return the window that slides over an image; what a rounded up size needs is padding at the end."""
        if attribute(node, "auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
            raise NoLayerError(
                "its padding is stated by auto_pad, and could not be converted into pads",
                "state the padding in pads",
            )
        shape = self._view.shape(node.output[0])
        flat = len(shape) == 3
        axes = len(shape) - 2
        pads = list(attribute(node, "pads", [0] * 2 * axes))
        lists = {
            name: list(attribute(node, name, [1] * axes)) for name in ("strides", "dilations", "kernel_shape")
        }
        window: dict[str, Any] = {name: [*found, 1] if flat else found for name, found in lists.items()}
        window["kernel"] = window.pop("kernel_shape")
        window["pads"] = [pads[0], 0, pads[1], 0] if flat else pads
        window["shape"] = (*shape, 1) if flat else shape
        window["group"] = attribute(node, "group", 1)
        for axis in (0, 1) if attribute(node, "ceil_mode", 0) else ():
            read = (window["shape"][2 + axis] - 1) * window["strides"][axis]
            if read >= tensor.shape[2 + axis] + window["pads"][axis]:
                raise NoLayerError(
                    "with ceil_mode its last window begins after the end of the image, and ONNX's definitions disagree "
                    "on whether there is one",
                    "state the padding instead",
                )
            read += (window["kernel"][axis] - 1) * window["dilations"][axis] + 1
            size = tensor.shape[2 + axis] + window["pads"][axis] + window["pads"][2 + axis]
            window["pads"][2 + axis] += max(0, read - size)
        return window

    def _conv(self, node: NodeProto, value: Value, base: str) -> Value:
        weights = integer_weights(self._view, node.input[1], axis=0)
        tensor = self._image(value, base)
        if weights is None:
            raise NoLayerError("its weights are not constant", "make them constants")
        taps = weights.values if weights.values.ndim == 4 else weights.values[..., None]
        window = self._window(node, tensor)
        found = self._products.convolution(tensor, taps, weights.scale, node, window, base)
        return self.biased(node, found)

    def _conv_transpose(self, node: NodeProto, value: Value, base: str) -> Value:
        """A convolution gives a block of pixels for each one; they are put in order, and what is beyond is cut off."""
        weights = integer_weights(self._view, node.input[1], axis=1)
        tensor = self._image(value, base)
        window = self._window(node, tensor)
        if weights is None:
            raise NoLayerError("its weights are not constant", "make them constants")
        if attribute(node, "output_shape") is not None:
            raise NoLayerError(
                "its padding is stated by output_shape, and could not be converted into pads",
                "state the padding in pads",
            )
        beyond = attribute(node, "output_padding", [0])
        if any(more >= step for more, step in zip(beyond, window["strides"], strict=False)):
            raise NoLayerError("its output_padding is not less than its strides", "use less than the strides")
        taps = weights.values if weights.values.ndim == 4 else weights.values[..., None]
        *_, height, width = window["shape"]
        high, wide = window["strides"]
        blocks = as_blocks(
            dense_transposed(taps, window["group"]),
            tensor.shape[2:],
            (height, width),
            (high, wide),
            window["dilations"],
            window["pads"],
        )
        rows, columns = blocks.number
        results = len(blocks.weights) // (high * wide)
        shape = (1, len(blocks.weights), rows, columns)
        plain = {"shape": shape, "strides": [1, 1], "pads": blocks.pads, "dilations": [1, 1], "group": 1}
        scale = (
            np.tile(weights.scale, len(blocks.weights) // weights.scale.size)
            if weights.scale.size > 1
            else weights.scale
        )
        found = self._products.convolution(tensor, blocks.weights, scale, node, plain, base)
        biased = self.biased(node, found, high * wide)
        moved = self._layouts.reshaped(biased, (1, high, wide, results, rows, columns), base)
        moved = self._layouts.transposed(moved, (0, 3, 4, 1, 5, 2), base)
        moved = self._layouts.reshaped(moved, (1, results, rows * high, columns * wide), base)
        return self._structure.cropped(moved, (1, results, height, width), base)

    def _max_pool(self, node: NodeProto, value: Value, base: str) -> Value:
        tensor = self._image(value, base)
        window = self._window(node, tensor)
        if len(node.output) > 1 and node.output[1]:
            raise NoLayerError(
                "its second output, the indices of the largest values, is used",
                "use only its first output, the values",
            )
        return self._images.extreme(tensor, window, base)

    def _global_pool(self, node: NodeProto, value: Value, base: str) -> Value:
        return self._of_image(node, self._image(value, base), base)

    def _of_image(self, node: NodeProto, image: IntegerTensor, base: str) -> IntegerTensor:
        """Return one value for all pixels of each channel: their sum, a pending division after it, or an extreme."""
        if node.op_type not in _EXTREMES:
            return self._images.mean(image, node, base, divided=node.op_type != "ReduceSum")
        window = self._whole(image)
        return self._images.extreme(image, window, base, _EXTREMES[node.op_type])

    @staticmethod
    def _whole(image: IntegerTensor) -> dict[str, Any]:
        """Return the window that is all of an image."""
        shape = (*image.shape[:2], 1, 1)
        return {
            "kernel": [*image.shape[2:]],
            "strides": [1, 1],
            "pads": [0] * 4,
            "dilations": [1, 1],
            "shape": shape,
        }

    def _average_pool(self, node: NodeProto, value: Value, base: str) -> Value:
        tensor = self._image(value, base)
        window = self._window(node, tensor)
        if window["kernel"] == list(tensor.shape[2:]) and not any(window["pads"]):
            return self._images.mean(tensor, node, base)  # one window: a sum that needs no weights
        window["group"] = channels = tensor.channels
        ones = np.ones((channels, 1, *window["kernel"]), np.int64)
        found = self._products.convolution(tensor, ones, np.ones(1), node, window, base)
        counts = self._counts(node, tensor.shape, window)
        whole = lcm(*counts.reshape(-1).tolist())
        if (counts != whole).any():  # means at the edges are of fewer values
            single = self._layouts.settled(found, base)
            found = self._images.weighted(single, whole // counts, f"{base}_weighted")
        return self._build.divided(found, node, whole)

    def _counts(self, node: NodeProto, image: tuple[int, ...], window: dict[str, Any]) -> Whole:
        """Return by which number each sum of a window is divided, (height, width): the means of 1 tell."""
        name = node.input[0]
        given = (1, 1, *self._view.shape(name)[2:])
        session = open_node(node, opset(self._view.model), {name: np.dtype(np.float32)}, node.output)
        means = np.asarray(session.run(None, {name: np.ones(given, np.float32)})[0])
        sums = means.reshape(window["shape"][2:]).astype(np.float64)
        read = [_inside(image[2 + axis], window, axis) for axis in (0, 1)]
        real = np.multiply.outer(*read)
        if (sums <= 0).any() or (real == 0).any():
            raise NoLayerError(
                "some of its windows hold nothing but padding, so they have no mean",
                "pad less, so that each window has a value of the image",
            )
        counts = np.rint(real / sums).astype(np.int64)
        if not np.allclose(real / counts, sums, rtol=1e-5):
            raise NoLayerError(
                "its windows do not divide their sums by whole numbers",
                "use an AveragePool without ceil_mode",
            )
        return counts

    def _reduce(self, node: NodeProto, value: Value, base: str) -> Value:
        """Bring the axes that are reduced behind the others: they are an image's height, and the others its channels."""
        rank = len(value.shape)
        stated = attribute(node, "axes")
        if stated is None and len(node.input) > 1 and node.input[1]:
            found = self._view.constant(node.input[1])
            stated = None if found is None else found.reshape(-1).tolist()
        if stated is None and attribute(node, "noop_with_empty_axes", 0):
            return value
        axes = sorted(range(rank) if stated is None else {axis % rank for axis in stated})
        kept = [axis for axis in range(rank) if axis not in axes]
        if rank > 2 and kept == [0, 1] and value.shape[0] == 1:
            return self._global_pool(node, value, base)
        moved = self._layouts.transposed(value, [*kept, *axes], base)
        sizes = [prod(value.shape[axis] for axis in each) for each in (kept, axes)]
        image = self._layouts.settled(self._layouts.reshaped(moved, (1, *sizes, 1), base), base)
        return self._of_image(node, image, base)


def _inside(size: int, window: dict[str, Any], axis: int) -> Whole:
    """Return how many taps of each window along an axis are inside the image."""
    starts = np.arange(window["shape"][2 + axis]) * window["strides"][axis] - window["pads"][axis]
    taps = starts[:, None] + np.arange(window["kernel"][axis]) * window["dilations"][axis]
    return np.asarray(((taps >= 0) & (taps < size)).sum(axis=1))


_EXTREMES = {"GlobalMaxPool": 1, "ReduceMax": 1, "ReduceMin": -1}
"""Operators that give the greatest value (1), or the least."""

_RULES: dict[str, Callable[[WindowRules, NodeProto, Value, str], Value]] = {
    "AveragePool": WindowRules._average_pool,
    "Conv": WindowRules._conv,
    "ConvTranspose": WindowRules._conv_transpose,
    "GlobalAveragePool": WindowRules._global_pool,
    "GlobalMaxPool": WindowRules._global_pool,
    "MaxPool": WindowRules._max_pool,
    "ReduceMax": WindowRules._reduce,
    "ReduceMean": WindowRules._reduce,
    "ReduceMin": WindowRules._reduce,
    "ReduceSum": WindowRules._reduce,
}
"""What finds the results of which operator."""
