"""Print what Yosys makes of products of few bits, beside what brainsmith/backends/rtl/embedded_resources.py states.

python benchmarks/products_in_luts.py            # about 20 minutes; what was synthesised before costs nothing
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

import drawn_parameters
import kernel_nodes as nodes
from drawn_parameters import sum_of

from brainsmith.backends.rtl.embedded_resources import PRODUCT_LUTS, share_of_few
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.cores.trial import make_design, make_model
from brainsmith.rtl.resource_models.layer_needs import layer_needs
from brainsmith.rtl.synthesis.synthesise import synthesise_layers

PART = "xc7z020clg400-1"
SIMD, PE = 4, 8
WORDS = 16
"""So many words of weights are no longer few."""

FEW = (2, 3, 4, 6, 8, 12)
KINDS = ("UINT", "INT")


def main() -> None:
    """Print both tables."""
    prepare_finn()
    for (one, other), stated in PRODUCT_LUTS.items():
        found = tuple(
            tuple(
                round(product_luts(f"{a}{one}", f"{b}{other}", WORDS, folds))
                for a, b in product(KINDS, KINDS)
            )
            for folds in (1, 2)
        )
        print(
            f"({one}, {other}): {found}," + ("" if found == stated else f"  # stated: {stated}"), flush=True
        )
    for value, weight in (("INT3", "INT3"), ("INT4", "INT3"), ("INT4", "INT4")):
        whole = product_luts(value, weight, WORDS, 1)
        for words in FEW:
            share = product_luts(value, weight, words, 1) / whole
            print(
                f"{value} by {weight}, {words} words: {share:.2f}, stated {share_of_few(words):.2f}",
                flush=True,
            )


def product_luts(value: str, weight: str, words: int, folds: int) -> float:
    """Return the LUTs of one product in a layer, the others being as stated.

    Args:
        value: The datatype of the input.
        weight: That of the weights.
        words: Of weights.
        folds: Groups of rows; of more than one, values are read from a memory.
    """
    from qonnx.custom_op.registry import getCustomOp

    width = SIMD * words // folds
    case = nodes.embedded_mvau(width, PE * folds, SIMD, PE, value, weight, sum_of(width, value, weight))
    model = make_model([case])
    stated = layer_needs(getCustomOp(model.graph.node[0]), PART, model)
    with tempfile.TemporaryDirectory(prefix="brainsmith-products-") as folder:
        _, design = make_design([case], Path(folder), PART)
        (layer,) = synthesise_layers(design, PART)
    bits = (drawn_parameters.bits(value), drawn_parameters.bits(weight))
    signed = 2 * int(value.startswith("INT")) + int(weight.startswith("INT"))
    each = PRODUCT_LUTS[bits][int(folds > 1)][signed] * share_of_few(words)
    others = layer.used.lut - (int(stated.lut) if stated else 0)
    return each + others / (SIMD * PE)


if __name__ == "__main__":
    main()
