"""Run all cases of some grids and count what passes; the tests run a part of the largest ones.

python -m tests.rtl.finn_cases.everything [KERNEL...] [--from BATCH]
"""

import argparse
import importlib
import os
import tempfile
import time
from pathlib import Path

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

KERNELS = (
    "fmpadding", "dwc", "crop", "select_token", "convolution_input_generator", "mvau", "dynamic_mvau", "thresholding",
    "pad1d",
)  # fmt: skip


def main():
    """Run the grids in batches, print what fails, and end with the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=KERNELS)
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first batch")
    arguments = parser.parse_args()
    prepare_finn()
    for kernel in arguments.kernels:
        run_grid(kernel, arguments.start)


def run_grid(kernel, start):
    """Run one kernel's whole grid."""
    from brainsmith.rtl.library.sources import find_library
    from tests.rtl.finn_cases.bench import batches, check

    module = importlib.import_module(f"tests.rtl.finn_cases.test_{kernel}")
    size = getattr(module, "SIZE", 16)
    parts = [list(part.values[0]) for part in batches(module.GRID, size)][start:]
    passed, ran, begin = 0, 0, time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="brainsmith-cases-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for at, part in enumerate(parts):
            try:
                check(module.make_case, part, Path(folder) / str(at), find_library())
                passed += len(part)
            except AssertionError as error:
                print(f"{kernel}: {error}", flush=True)
            ran += len(part)
            seconds = time.perf_counter() - begin
            print(f"{kernel}: {passed} of {ran} pass, of {len(module.GRID)}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
