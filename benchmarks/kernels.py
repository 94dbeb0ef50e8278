"""Print what this project's RTL backends compute, how fast, and what they cost.

    python benchmarks/kernels.py [BACKEND...]

Each case (kernel_cases.py) is simulated against its kernel's Python model, without stalls and with random ones; its
interval from frame to frame is measured, and Yosys maps it to an UltraScale+ part. Beside what it needs stands what the
backend states, and FINN's estimate of its own HLS version: 0 where FINN has none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kernel_cases import CASES, PART

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.info import FINN_RTL
from brainsmith.rtl.cores.checking import layer_intervals
from brainsmith.rtl.cores.estimated_backend import stated_resources
from brainsmith.rtl.cores.trial import golden_tensors, make_design

if TYPE_CHECKING:
    from brainsmith.rtl.cores.trial import Case
    from brainsmith.rtl.synthesis.cells import Resources

HLS = "finn.custom_op.fpgadataflow.hls"
HLS_NODES = {
    "BipolarThresholding_rtl": "Thresholding_hls",
    "ElementwiseAddInt_rtl": "ElementwiseAdd_hls",
    "ElementwiseMaxInt_rtl": "ElementwiseMax_hls",
    "ElementwiseMulInt_rtl": "ElementwiseMul_hls",
    "ElementwiseSubInt_rtl": "ElementwiseSub_hls",
    "BinaryMVAU_rtl": "MVAU_hls",
    "EmbeddedMVAU_rtl": "MVAU_hls",
    "EmbeddedVVAU_rtl": "VVAU_hls",
}
"""FINN's nodes whose names are not those of the RTL with another ending."""
FINN_KEYS = {"lut": "LUT", "bram18": "BRAM_18K", "dsp": "DSP"}
NEAR, FEW = 1.25, 5
"""How far the resources may be from what is stated; few LUTs may differ by so many."""
FRAMES = 6


@dataclass(frozen=True)
class Measured:
    """What was found of one case.

    Attributes:
        backend: Its name.
        case: What is said of it.
        values: Compared, with and without stalls.
        wrong: How many of them.
        interval: Measured cycles from frame to frame, and those of the estimate.
        used: By Yosys.
        stated: By the backend.
        finn: FINN's estimates of its HLS version by resource; empty where it has none.
    """

    backend: str
    case: str
    values: int
    wrong: int
    interval: tuple[float, int]
    used: Resources
    stated: Resources
    finn: dict[str, int]

    def ratios(self) -> dict[str, float]:
        """Return what is used over what is stated, of each resource; 1 where both are 0."""
        found = {}
        for kind in ("lut", "ff", "bram18", "dsp"):
            used, stated = getattr(self.used, kind), getattr(self.stated, kind)
            found[kind] = 1.0 if used == stated else used / stated if stated else float("inf")
        return found

    def near(self) -> bool:
        """Tell whether each resource is as stated."""
        few = abs(self.used.lut - self.stated.lut) <= FEW
        return all(
            1 / NEAR <= ratio <= NEAR or (kind == "lut" and few) for kind, ratio in self.ratios().items()
        )


def main() -> None:
    """Measure the named backends, all by default, and print a table."""
    parser = argparse.ArgumentParser(description="Print what this project's RTL backends compute and cost.")
    parser.add_argument("backends", nargs="*", help=f"of {', '.join(CASES)}")
    names = parser.parse_args().backends or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"no backend is named {unknown[0]!r}; there are {', '.join(CASES)}")
    print_table([one for name in names for one in measure(name)])


def measure(name: str) -> list[Measured]:
    """Simulate and synthesise a backend's cases."""
    prepare_finn()
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.rtl.synthesis.synthesise import synthesise_layers
    from brainsmith.rtl.verification.layers import verify_layers

    cases = CASES[name].measured
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        model, design = make_design(list(cases.values()), Path(folder), PART)
        golden = golden_tensors(model, list(cases.values()), FRAMES, seed=0)
        checks = {check.layer: check for check in verify_layers(design, golden)}
        used = {layer.name: layer.used for layer in synthesise_layers(design, PART)}
        measured = layer_intervals(design, golden)
    found = []
    for node, (case, what) in zip(model.graph.node, [(v, k) for k, v in cases.items()], strict=True):
        layer, check = getCustomOp(node), checks[node.name]
        wrong = check.wrong + check.missing + check.untaken + check.surplus
        pace = (measured[node.name], int(layer.get_exp_cycles()))
        stated = stated_resources(layer, PART)
        assert stated is not None  # as each backend of this project does
        found.append(
            Measured(
                name,
                what,
                check.values,
                wrong,
                pace,
                used[node.name],
                stated,
                finn_estimate(case),
            )
        )
    return found


def finn_estimate(case: Case) -> dict[str, int]:
    """Return FINN's estimate of a case's resources in its HLS version; empty if it has none."""
    import finn.custom_op.fpgadataflow.hls as hls
    from onnx import helper
    from qonnx.custom_op.registry import getCustomOp

    kind = HLS_NODES.get(case.op_type, case.op_type.replace("_rtl", "_hls"))
    if case.domain != FINN_RTL or kind not in hls.custom_op:
        return {}
    given = case.node(0)
    node = helper.make_node(
        kind, given.input, given.output, domain=HLS, backend="fpgadataflow", **case.attributes
    )
    estimate = getCustomOp(node).node_res_estimation(PART)
    return {kind: int(estimate.get(key, 0)) for kind, key in FINN_KEYS.items()}


def print_table(found: list[Measured]) -> None:
    """Print a row for each case, and how many of them miss a goal."""
    heads = ["backend", "case", "wrong", "cycles", "ratio", "LUT", "FF", "BRAM18", "DSP", "FINN HLS", ""]
    rows = [_row(one) for one in found]
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    for row in (heads, *rows):
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    print("resources: by Yosys / as stated; FINN HLS: LUT, BRAM18, DSP of FINN's estimate")
    missed = sum(bool(row[-1]) for row in rows)
    print(f"{len(rows)} cases, {missed} of them outside of the goals")


def _row(one: Measured) -> list[str]:
    cycles, estimate = one.interval
    goals = {"wrong": one.wrong == 0, "interval": cycles == estimate, "resources": one.near()}
    kinds = ("lut", "ff", "bram18", "dsp")
    return [
        one.backend,
        one.case,
        f"{one.wrong} of {one.values:,}",
        f"{cycles:g}",
        f"{cycles / estimate:.4f}",
        *(f"{getattr(one.used, kind)} / {getattr(one.stated, kind)}" for kind in kinds),
        ", ".join(str(one.finn[kind]) for kind in FINN_KEYS) if one.finn else "none",
        ", ".join(what for what, reached in goals.items() if not reached),
    ]


if __name__ == "__main__":
    main()
