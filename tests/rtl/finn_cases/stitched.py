"""Cases as FINN's tests stitch them, between shallow FIFOs, but stitched here: one design for many cases."""

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import design_beats, layout_values
from tests.rtl.finn_cases.bench import FRAMES, SHARE, compare

SHALLOW = 2
ENDS = ("node", "input", "output", "initializer", "value_info", "quantization_annotation")


def check_stitched(make_case, parameters, tmp_path, library):
    """Stitch the cases of some parameters, and simulate them without and with stalls."""
    cases = [make_case(*one) for one in parameters]
    model = generate_layers(side_by_side(cases), tmp_path / "code", cases[0].part)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("brainsmith.rtl.stitching.stitch.find_library", lambda: library)
        design = stitch(model)
    design = design.with_depths({link.name: SHALLOW for link in design.links if not link.weights})
    simulator = build_simulator(plan_design(design), quick=True)
    for share in (0.0, SHARE):
        compare(parameters, *_run(cases, model, design, simulator, share))


def side_by_side(cases):
    """Return one model of all cases' layers; the tensors of case 3 begin with `c3_`."""
    graph = helper.make_graph([], "cases", [], [])
    for at, case in enumerate(cases):
        copy = ModelWrapper(case.layer.model, make_deepcopy=True)
        for name in copy.get_all_tensor_names():
            copy.rename_tensor(name, f"c{at}_{name}")
        for end in ENDS:
            getattr(graph, end).extend(getattr(copy.graph, end))
    return ModelWrapper(helper.make_model(graph, opset_imports=cases[0].layer.model.opset_import))


def _run(cases, model, design, simulator, share):
    rng = np.random.default_rng(3)
    data = [[case.random_frame(rng) for _ in range(FRAMES)] for case in cases]
    expected = [
        np.stack([case.expected(frame) for frame in frames]) for case, frames in zip(cases, data, strict=True)
    ]
    feed = {
        f"c{at}_{name}": np.stack([frame[name] for frame in frames])
        for at, frames in enumerate(data)
        for name in frames[0]
    }
    _, words, counts = design_beats(design, feed)
    ends = [stream.name for stream in (*design.inputs, *design.outputs)]
    result = simulator.run(
        words,
        counts,
        stalls={end: Stalls.random(at, share) for at, end in enumerate(ends)} if share else None,
        surplus=list(counts),
        constant=list(counts),
        limit=1_000_000,
    )
    found = [
        layout_values(stream.layout, result.streams[stream.name].words, FRAMES) for stream in design.outputs
    ]
    return found, expected
