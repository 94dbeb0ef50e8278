"""Print how well designs are foretold, and how fast and well they are fitted to a device: each row alone, or all.

python benchmarks/exports.py FOLDER cnv_2w2a cnv_2w2a_full resnet8 resnet18_full resnet20_full tfc_2w2a
                                                               # makes exports; needs torch and brevitas
python benchmarks/fit.py                                       # the examples; the rows that synthesise take hours
python benchmarks/fit.py FOLDER                                # and of benchmarks/exports.py TFC, CNV and ResNets
python benchmarks/fit.py FOLDER --only optimal --only front
python benchmarks/fit.py FOLDER digits/cnn --only estimates    # this network alone
python benchmarks/fit.py FOLDER --only cost --apart            # sums of layers, where whole designs would take hours
python benchmarks/fit.py --only fifo_bits --seed 7000          # FIFOs told and found: the examples, 30 random networks
"""

from __future__ import annotations

import argparse
from pathlib import Path

from estimate_errors import estimates, foldings
from fifo_bits import fifo_bits
from optimal_foldings import cost, front, optimal
from unchanged_build import unchanged

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

ROWS = {
    "foldings": foldings, "estimates": estimates, "fifo_bits": fifo_bits, "optimal": optimal, "front": front,
    "cost": cost, "unchanged": unchanged,
}  # fmt: skip


def main() -> None:
    """Print what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="of benchmarks/exports.py")
    parser.add_argument("names", nargs="*", help="networks; those of each row, if none is named")
    parser.add_argument("--only", choices=tuple(ROWS), action="append", help="this row; may be repeated")
    parser.add_argument("--apart", action="store_true", help="synthesise layers alone, and add them up")
    parser.add_argument(
        "--seed", type=int, help="where the random networks of fifo_bits begin; drawn by default"
    )
    options = parser.parse_args()
    prepare_finn()
    for name in options.only or ROWS:
        print(f"{name}:")
        ROWS[name](options)


if __name__ == "__main__":
    main()
