"""What stands between two layers: a FIFO, and where they are folded differently a width converter and one more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.devices.device import RESOURCES
from brainsmith.rtl.resource_models.layer_needs import fifo_needs
from brainsmith.steps.converters import choose_converters
from brainsmith.steps.folding_needs import needs_of_foldings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Width = tuple[int, int]
    """Values of a beat, and its bits."""

_SHORTEST = 2
"""Beats of the FIFOs that are counted as long as nobody knows how deep they will be."""


class StreamCosts:
    """Counts what streams take; each converter and each FIFO once.

    Args:
        cfg: Says the part, and which backends converters may have.

    Attributes:
        with_fifos: Whether FIFOs are counted.
    """

    with_fifos = True

    def __init__(self, cfg: Any) -> None:
        self._cfg, self._part = cfg, cfg._resolve_fpga_part()
        self._converters: dict[tuple[int, int, str], Counts] = {}
        self._fifos: dict[int, Counts] = {}

    def fifos(self, bits: Any) -> Counts:
        """Return what FIFOs take whose beats have so many bits, (..., resources); they are the shortest."""
        bits = np.asarray(bits, np.int64)
        if not self.with_fifos:
            return np.zeros((*bits.shape, len(RESOURCES)), np.int64)
        each, back = np.unique(bits, return_inverse=True)
        new = [one for one in map(int, each) if one not in self._fifos]
        if new:
            needs = fifo_needs(_SHORTEST, np.array(new), self._part)
            columns = [np.broadcast_to(getattr(needs, name), len(new)) for name in RESOURCES]
            self._fifos.update(zip(new, np.stack(columns, axis=-1).astype(np.int64), strict=True))
        return np.array([self._fifos[int(one)] for one in each])[back.reshape(bits.shape)]

    def between(
        self, given: Sequence[Width], taken: Sequence[Width], datatype: Any, shape: Sequence[int]
    ) -> Counts:
        """Return what stands between beats of some widths and of others, (given, taken, resources).

        Args:
            given: Widths of a stream as a layer may give it.
            taken: Widths as the next one may take it.
            datatype: Of the values.
            shape: Of the tensor.
        """
        pairs = [(one, other) for one in given for other in taken if one[0] != other[0]]
        self._measure({(one[1], other[1]) for one, other in pairs}, datatype, shape)
        found = np.empty((len(given), len(taken), len(RESOURCES)), np.int64)
        found[:] = self.fifos([bits for _, bits in given])[:, None]
        behind = self.fifos([bits for _, bits in taken])
        for row, one in enumerate(given):
            for column, other in enumerate(taken):
                if one[0] != other[0]:
                    found[row, column] += self._converters[one[1], other[1], datatype.name] + behind[column]
        return found

    def _measure(self, pairs: set[tuple[int, int]], datatype: Any, shape: Sequence[int]) -> None:
        """Count the converters between pairs of widths that were not counted yet, all of them in one model."""
        from onnx import TensorProto, helper
        from qonnx.core.modelwrapper import ModelWrapper
        from qonnx.custom_op.registry import getCustomOp

        new = sorted(pair for pair in pairs if (*pair, datatype.name) not in self._converters)
        if not new:
            return
        nodes = [
            helper.make_node(
                "StreamingDataWidthConverter", ["in"], [f"out{at}"], f"converter{at}",
                domain="finn.custom_op.fpgadataflow", backend="fpgadataflow", inShape=list(shape), outShape=list(shape),
                inWidth=one, outWidth=other, dataType=datatype.name,
            )
            for at, (one, other) in enumerate(new)
        ]  # fmt: skip
        ends = [
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name in names]
            for names in (["in"], [node.output[0] for node in nodes])
        ]
        model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "converters", *ends)))
        model.set_tensor_datatype("in", datatype)
        chosen = choose_converters(model, self._cfg)
        for pair, node in zip(new, chosen.graph.node, strict=True):
            layer = getCustomOp(node)
            self._converters[*pair, datatype.name] = needs_of_foldings(layer, [{}], self._part, chosen)[0]
