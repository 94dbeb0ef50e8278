"""Print how well designs are foretold: each row alone, or all.

python benchmarks/fit.py                                 # the examples; minutes
python benchmarks/fit.py FOLDER                          # and of benchmarks/exports.py TFC and a CNV
python benchmarks/fit.py FOLDER digits/cnn --only estimates   # this network alone
"""

from __future__ import annotations

import argparse
from pathlib import Path

from estimate_errors import estimates, foldings

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

ROWS = {"foldings": foldings, "estimates": estimates}


def main() -> None:
    """Print what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="of benchmarks/exports.py")
    parser.add_argument("names", nargs="*", help="networks; all that are there, if none is named")
    parser.add_argument("--only", choices=tuple(ROWS), action="append", help="this row; may be repeated")
    options = parser.parse_args()
    prepare_finn()
    for name in options.only or ROWS:
        print(f"{name}:", flush=True)
        ROWS[name](options)


if __name__ == "__main__":
    main()
