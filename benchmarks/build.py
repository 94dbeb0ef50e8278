"""Print what a whole build process takes beside FINN+'s own builder: time and peak memory, in turn.

    python benchmarks/build.py

Both end with estimates; verification, report and build cache are off. FINN+'s builder refuses to start without
Vivado even for estimates, so it gets the path of one that is not there, and is given this project's placeholder for torch.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path

from measure import ROOT, Figures, compile_package, empty_cache, environment, row, run_once

MODEL = ROOT / "examples" / "digits" / "mlp.onnx"
BLUEPRINT = ROOT / "blueprints" / "digits_mlp.yaml"
RUNS = 5

OURS = """
import sys
from brainsmith.build import build
model, blueprint, output = sys.argv[1:]
build(model, blueprint, output=output, verify=False, report=False, use_cache=False)
"""

FINN = """
import sys
model, blueprint, output, kind = sys.argv[1:]
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
prepare_finn()
from finn.builder.build_dataflow import build_dataflow_cfg
from finn.builder.build_dataflow_config import DataflowBuildConfig, DataflowOutputType
from brainsmith.blueprint.loader import load_blueprint
target = load_blueprint(blueprint).target
if kind == "same":
    from brainsmith.plugins import steps as own
    names = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold", "estimate")
    steps = [own[name] for name in names]
else:
    steps = ["step_qonnx_to_finn", "step_tidy_up", "step_streamline", "step_convert_to_hw",
             "step_create_dataflow_partition", "step_specialize_layers", "step_target_fps_parallelization",
             "step_apply_folding_config", "step_minimize_bit_width", "step_generate_estimate_reports"]
cfg = DataflowBuildConfig(
    output_dir=output, synth_clk_period_ns=target.clock_ns, fpga_part=target.part, target_fps=target.fps,
    generate_outputs=[DataflowOutputType.ESTIMATE_REPORTS], steps=steps, save_intermediate_models=True,
)
sys.exit(build_dataflow_cfg(model, cfg))
"""


def main() -> None:
    """Measure and print everything."""
    compile_package()
    programs = {"ours": (OURS, []), "same": (FINN, ["same"]), "finn": (FINN, ["finn"])}
    figures = {name: Figures() for name in programs}
    with empty_cache() as cache:
        env = environment(cache, XILINX_VIVADO="/none/Vivado/2022.2", FINN_BUILD_DIR=str(cache / "finn"))
        (cache / "finn").mkdir()
        for run in range(RUNS + 1):
            for name, (program, more) in programs.items():
                output = cache / f"out_{name}"
                shutil.rmtree(output, ignore_errors=True)
                command = [sys.executable, "-c", program, str(MODEL), str(BLUEPRINT), str(output), *more]
                run_once(command, env, figures[name] if run else Figures(), cwd=cache)
    print(f"a whole build process of {Path(MODEL).name}, medians of {RUNS}, run in turn:")
    for name, title in (
        ("ours", "brainsmith"),
        ("same", "FINN+'s builder, same steps"),
        ("finn", "FINN+'s builder, its own steps"),
    ):
        print(f"  {title:<32} {figures[name].median_s:6.2f} s   {figures[name].median_mb:6.0f} MB")
    for name, title in (("same", "the same steps"), ("finn", "FINN+'s own steps")):
        pairs = zip(figures["ours"].seconds, figures[name].seconds, strict=True)
        time = statistics.median(ours / theirs for ours, theirs in pairs)
        memory = figures["ours"].median_mb / figures[name].median_mb
        row(f"time over FINN+'s builder with {title}", f"{time:.2f} x", "0.6 x", reached=time <= 0.6)
        row(
            f"peak memory over FINN+'s builder with {title}",
            f"{memory:.2f} x",
            "0.8 x",
            reached=memory <= 0.8,
        )


if __name__ == "__main__":
    main()
