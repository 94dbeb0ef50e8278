"""Which parts of the config each of this project's steps reads: where the ways of two points of a design space part."""

from __future__ import annotations

from collections.abc import Mapping

PART, CLOCK, RATE, FIT, KERNELS, APPROXIMATE, GOLDEN = (
    "fpga_part",
    "synth_clk_period_ns",
    "target_fps",
    "fit",
    "kernel_preferences",
    "approximate",
    "verify_input_npy",
)

ALL = frozenset((PART, CLOCK, RATE, FIT, KERNELS, APPROXIMATE, GOLDEN))
"""What a step reads of which nothing is known: another project's, or FINN's."""

_CIRCUIT = frozenset((PART, CLOCK, KERNELS))
STEP_READS: Mapping[str, frozenset[str]] = {
    "cleanup": frozenset(),
    "qonnx_to_finn": frozenset(),
    "streamline": frozenset(),
    "integer": frozenset((APPROXIMATE,)),
    "hardware_inference": frozenset((KERNELS, APPROXIMATE)),
    "specialize": frozenset((PART, KERNELS)),
    "fold": frozenset((PART, CLOCK, RATE, FIT, KERNELS)),
    "estimate": frozenset((PART, CLOCK, RATE, FIT, KERNELS)),
    "rtl_codegen": _CIRCUIT,
    "rtl_stitch": _CIRCUIT,
    "rtl_size_fifos": _CIRCUIT | {GOLDEN, RATE},
    "rtl_simulate": _CIRCUIT | {GOLDEN, RATE},
    "rtl_synthesise": _CIRCUIT,
    "rtl_package": _CIRCUIT | {GOLDEN},
}
"""By step of this project; its transforms read nothing of the config. A test compares it with what builds note."""
KEYS_OF: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("target", "part"): (PART,),
    ("target", "device"): (FIT,),
    ("target", "clock"): (CLOCK,),
    ("target", "fps"): (RATE,),
    ("target", "fit"): (FIT,),
    ("target",): (PART, CLOCK, RATE, FIT),
    ("kernels",): (KERNELS,),
    ("verify", "approximate"): (APPROXIMATE,),
    ("verify", "inputs"): (GOLDEN,),
    ("verify",): (GOLDEN, APPROXIMATE),
}
"""By keys of a blueprint, the parts of the config that follow from them; the longest that fit count."""
