"""Print how many networks become circuits, how right and how fast: each row alone, or all.

    python benchmarks/exports.py FOLDER [mobilenet_full ...]  # makes exports; needs torch and brevitas, here or elsewhere
    python benchmarks/networks.py FOLDER                      # all rows, which takes hours
    python benchmarks/networks.py FOLDER --only front_end
    python benchmarks/networks.py FOLDER --only random --networks 200
    python benchmarks/networks.py FOLDER unet kws_conv1d      # of the row `exports`, these alone
    python benchmarks/networks.py FOLDER --only exports --produce integer     # or `estimates`, or `unsearched`

An export is right if what was built, with a blueprint of three lines, gives torch's outputs on inputs that the build did
not see, up to float32's rounding of the last layer; samples in which float32 decides a tie are counted apart. Each is built
in a process of its own, with caches of its own. The exit code is 1 if a network is wrong, or ends in an error of Python,
FINN or numpy. The exports without `_full` are of reduced size, and of the same topology: `mobilenet` has an eighth of the
channels and 32 x 32 pixels, `resnet_shared` 8 to 32 channels and three blocks, `cnv_*` a quarter of the channels.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path

from example_orders import EXAMPLES, Costs, costs_of
from export_builds import CIRCUITS, INPUTS, LAST, RAW, RIGHT, WRONG, Ended, built_apart
from front_end_time import seconds_of
from hunt import Case, hunted, judged_case
from measure import environment, row

FRONT_END = {"jet_mlp": 0.020, "cnv_2w2a_full": 1.0, "mobilenet_full": 5.0}
"""Seconds that the front end may take."""

CNV = {"cnv_1w1a_full": 100.0, "cnv_2w2a_full": 200.0}
CNV_RATE, CNV_MEGABYTES = 3000, 800.0
RESNET_SECONDS = 15 * 60.0


def main() -> int:
    """Print what the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="of benchmarks/exports.py")
    parser.add_argument(
        "names", nargs="*", help="exports; all in the folder but those of full size, if none is named"
    )
    parser.add_argument("--only", choices=tuple(ROWS), action="append", help="this row; may be repeated")
    parser.add_argument(
        "--produce", choices=tuple(LAST), default="simulated", help="how far exports are built"
    )
    parser.add_argument(
        "--fps", type=int, default=0, help="the target rate of exports; else one that is kept for each"
    )
    parser.add_argument("--networks", type=int, default=2000, help="how many random ones")
    parser.add_argument("--seed", type=int, default=1, help="the first one's")
    parser.add_argument("--keep", type=Path, help="leave the builds in this folder")
    options = parser.parse_args()
    defects = 0
    for name in options.only or (["exports"] if options.names else ROWS):
        print(f"{name}:", flush=True)
        defects += ROWS[name](options)
    return int(defects > 0)


def _random(options: argparse.Namespace) -> int:
    cases = (Case(options.seed + at, "estimates") for at in range(options.networks))
    with tempfile.TemporaryDirectory(prefix="brainsmith-hunt-") as folder:
        os.environ.update(environment(Path(folder) / "cache"))
        ended = hunted(cases, partial(judged_case, folder=Path(folder)), jobs=2)
    count = max(len(ended), 1)
    integers = sum(each.integers for each in ended) / count
    hardware = sum(each.kind == RIGHT for each in ended) / count
    wrong, raw = (sum(each.kind == kind for each in ended) for kind in ("wrong", "raw"))
    row(f"{count} random networks become integer models", f"{integers:.1%}", "99 %", reached=integers >= 0.99)
    row("... and hardware, to estimates, right", f"{hardware:.1%}", "97 %", reached=hardware >= 0.97)
    row("... wrong", f"{wrong} of {count}", "0 of 2,000", reached=not wrong and count >= 2000)
    row("... errors of Python, FINN or numpy", str(raw), "0", reached=not raw)
    return wrong + raw


def _front_end(options: argparse.Namespace) -> int:
    for name, most in FRONT_END.items():
        file = options.folder / f"{name}.onnx"
        if _is_there(options.folder, name):
            seconds = seconds_of(file, INPUTS.get(name, ""))
            row(
                f"front end, {name}",
                f"{seconds * 1e3:,.1f} ms",
                f"{most * 1e3:,.0f} ms",
                reached=seconds <= most,
            )
    return 0


def _exports(options: argparse.Namespace) -> int:
    names = options.names or sorted(
        path.stem for path in options.folder.glob("*.onnx") if not path.stem.endswith("_full")
    )
    print(
        f"  {'':<16} {'':<8} {'seconds':>7} {'MB':>6} {'interval':>9} {'estimated':>9} {'ratio':>6} {'differ':>6} "
        f"{'ties':>4}"
    )
    ended = {name: _built(options, name, options.produce, options.fps) for name in names}
    right = sum(each.kind == RIGHT for each in ended.values())
    reached = right == len(ended) >= 12 and options.produce in CIRCUITS
    row(
        f"exports that are right, to {options.produce}",
        f"{right} of {len(ended)}",
        "all of >= 12",
        reached=reached,
    )
    ratios = [each.ratio for each in ended.values() if each.ratio is not None]
    if ratios:
        off = max(ratios, key=lambda ratio: abs(ratio - 1))
        row(
            f"interval measured over estimated, of {len(ratios)}, the farthest from 1",
            f"{off:.3f}",
            "1.00",
            reached=abs(off - 1) < 0.005,
        )
    return _defects(*ended.values())


def _cnv(options: argparse.Namespace) -> int:
    return sum(
        _full(options, name, "unsearched", most, CNV_RATE, CNV_MEGABYTES) for name, most in CNV.items()
    )


def _resnet18(options: argparse.Namespace) -> int:
    return _full(options, "resnet18_full", "simulated", RESNET_SECONDS, 0)


def _full(
    options: argparse.Namespace, name: str, produce: str, most: float, fps: int, limit: float = inf
) -> int:
    if not _is_there(options.folder, name):
        return 0
    ended = _built(options, name, produce, fps)
    right = ended.kind == RIGHT
    row(
        f"{name} to {produce}",
        f"{ended.seconds:,.0f} s",
        f"{most:,.0f} s",
        reached=right and ended.seconds <= most,
    )
    goal = f"{limit:,.0f} MB" if limit < inf else "none stated"
    row("... peak memory", f"{ended.megabytes:,.0f} MB", goal, reached=right and ended.megabytes <= limit)
    return _defects(ended)


def _mobilenet(options: argparse.Namespace) -> int:
    """Build RTL, and simulate it in parts: each layer alone, sections, and the whole for a smaller picture."""
    if not _is_there(options.folder, "mobilenet_full"):
        return 0
    ended = _built(options, "mobilenet_full", "unsearched", 0)
    layers, with_rtl = ended.layers
    row("mobilenet_full, layers with RTL", f"{with_rtl} of {layers}", "all", reached=0 < layers == with_rtl)
    whole, ran = ended.alone
    row("... each simulated alone, a whole frame", f"{whole} of {ran}", "all", reached=0 < ran == whole)
    return _defects(ended)


def _examples(options: argparse.Namespace) -> int:
    print(f"  {'':<16} {'LUT':>8} {'of FINN':>8} {'cycles':>8} {'of FINN':>8} {'classes that differ':>20}")
    same = 0
    for name in EXAMPLES:
        with tempfile.TemporaryDirectory(prefix="brainsmith-networks-") as folder:
            ours, finns = (costs_of(name, order, Path(folder) / order) for order in ("integer", "finn"))
        same += _is_as_good(ours, finns)
        differing = int((ours.classes != finns.classes).sum())
        print(
            f"  {name:<16} {ours.lut:>8,.0f} {finns.lut:>8,.0f} {ours.cycles:>8,} {finns.cycles:>8,} {differing:>20}"
        )
    row(
        "examples with the same bits and rate, and no more LUT",
        f"{same} of {len(EXAMPLES)}",
        "all",
        reached=same == len(EXAMPLES),
    )
    return 0


def _is_as_good(ours: Costs, finns: Costs) -> bool:
    return (
        ours.lut <= finns.lut and ours.cycles <= finns.cycles and bool((ours.classes == finns.classes).all())
    )


ROWS: dict[str, Callable[[argparse.Namespace], int]] = {
    "random": _random,
    "front_end": _front_end,
    "exports": _exports,
    "cnv": _cnv,
    "resnet18": _resnet18,
    "mobilenet": _mobilenet,
    "examples": _examples,
}
"""Each prints its lines and returns how many networks were wrong, or ended in an error of Python, FINN or numpy."""


def _is_there(folder: Path, name: str) -> bool:
    there = (folder / f"{name}.onnx").is_file()
    if not there:
        row(name, "not there", f"python benchmarks/exports.py {folder} {name}", reached=False)
    return there


def _built(options: argparse.Namespace, name: str, produce: str, fps: int) -> Ended:
    """Build one export, and print its line."""
    ended = built_apart(options.folder, name, produce, options.keep, fps)
    ratio = "" if ended.ratio is None else f"{ended.ratio:.3f}"
    cycles = [f"{value or 0:>9,.0f}" for value in (ended.interval, ended.estimated)]
    print(
        f"  {name:<16} {ended.kind:<8} {ended.seconds:>7.1f} {ended.megabytes:>6.0f} {cycles[0]} {cycles[1]} {ratio:>6} "
        f"{ended.differing:>6} {ended.ties:>4}  {ended.text}",
        flush=True,
    )
    return ended


def _defects(*ended: Ended) -> int:
    return sum(each.kind in (WRONG, RAW) for each in ended)


if __name__ == "__main__":
    sys.exit(main())
