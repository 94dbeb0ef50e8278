"""How far the FIFO bits that `estimate` tells are from those that are found by simulation."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import secrets
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from estimate_errors import CIRCUIT, FRONT, networks
from hunt import LIKELY
from measure import row

DESIGNS, MOST = 30, 0.25
"""How many random networks are built, and how far the bits of any design may be off."""

FPS = (1_000, 20_000, 100_000, 400_000)
"""Of which one is drawn for each random network."""


def fifo_bits(options: argparse.Namespace) -> None:
    """Build examples, exports and random networks until their FIFOs are sized, and compare each with its estimate.

    Nothing is verified. A random network that becomes no circuit is left out.

    Args:
        options: Have `folder`, of exports, or None, `names`, of networks or "random", and `seed`, where the random ones
            begin.
    """
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    errors: list[float] = []
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        for name, model, blueprint, datatype in _designs(options, Path(folder)):
            off = _compared(name, model, blueprint, datatype, Path(folder) / "out")
            errors += [] if off is None else [abs(off)]
    median, tail, most = (float(np.percentile(errors or [1.0], at)) for at in (50, 95, 100))
    row(
        f"FIFO bits of {len(errors)} designs, estimated against found by simulation: median, 95th percentile, most",
        f"{median:.1%}, {tail:.1%}, {most:.1%}",
        f"most {MOST:.0%}",
        reached=most <= MOST,
    )


def _designs(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path, Path, str | None]]:
    """Yield the name, model, blueprint and the datatype of inputs of each network."""
    for name, network in networks(options.folder).items():
        if network.blueprint and (not options.names or name in options.names):
            yield name, network.model, network.blueprint, network.datatype
    if options.names and "random" not in options.names:
        return
    from tests.hunt.judge import RTL_BLUEPRINT
    from tests.hunt.networks import random_network

    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    print(f"  seeds from {seed}", flush=True)
    model, blueprint = folder / "network.onnx", folder / "blueprint.yaml"
    built = 0
    while built < DESIGNS:
        drawn = random_network(seed)
        if LIKELY.search(drawn.text):
            fps = int(np.random.default_rng(seed).choice(FPS))
            model.write_bytes(drawn.file())
            blueprint.write_text(RTL_BLUEPRINT.replace("fps: 1000", f"fps: {fps}"))
            yield f"seed {seed}, {fps:,} fps", model, blueprint, None
            built += (folder / "out" / "report" / "rtl_fifos.json").is_file()
        seed += 1


def _compared(name: str, model: Path, blueprint: Path, datatype: str | None, out: Path) -> float | None:
    """Print what is told and found of a design; return by which share it is off. None if it becomes no circuit."""
    import shutil

    from brainsmith.build import build
    from brainsmith.errors import BrainsmithError

    shutil.rmtree(out, ignore_errors=True)
    try:
        with contextlib.redirect_stdout(None):
            build(
                model, blueprint, out, steps=[*FRONT, *CIRCUIT, "rtl_size_fifos"],
                verify=False, report=False, strict=False, input_datatype=datatype,
            )  # fmt: skip
    except BrainsmithError:
        return None
    told, found = (
        json.loads((out / "report" / file).read_text()) for file in ("estimates.json", "rtl_fifos.json")
    )
    off = float(told["fifo_bits"] / found["total_bits"] - 1)
    print(
        f"  {name}: {told['fifo_bits']:,} bits told, {found['total_bits']:,} found ({off:+.1%}); gauges say "
        f"{found['gauge_bits']:,}, {len(found['fifos'])} FIFOs, a frame every {found['interval']:,.0f} cycles",
        flush=True,
    )
    return off
