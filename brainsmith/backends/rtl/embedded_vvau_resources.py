"""What the core of EmbeddedVVAURTL needs of a part: the weights' memory, multipliers, adders, registers."""

from __future__ import annotations

from typing import Any

from brainsmith.rtl.cores.tables import Table, make_table
from brainsmith.rtl.synthesis.cells import Resources


def weight_table(node: Any) -> Table:
    """Return what holds the weights: as the node's `ram_style` says, or as fits their number.

    Args:
        node: QONNX's instance of it.
    """
    bits = node.get_nodeattr("SIMD") * node.get_nodeattr("PE") * node.get_input_datatype(1).bitwidth()
    style = node.get_nodeattr("ram_style")
    return make_table(int(bits), int(node.calc_wmem()), "auto" if style == "ultra" else style)


def vvau_resources(node: Any) -> Resources:
    """Return what a node's core needs.

    Args:
        node: QONNX's instance of it.
    """
    return Resources(lut=1)
