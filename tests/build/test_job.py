import json

import pytest

from brainsmith.blueprint.schema import Blueprint, Target
from brainsmith.build import build
from brainsmith.build.workspace import checkpoint_name
from tests.build import graphs


def slow(model, cfg):
    totals = {"interval_cycles": 1000, "latency_cycles": 2000, "fps": 2e5, "lut": 1, "bram18": 0, "dsp": 0}
    (cfg.get_report_directory() / "estimates.json").write_text(json.dumps({"layers": [], **totals}))
    return model


@pytest.mark.parametrize(("fps", "warned"), [(200_000, False), (200_001, True), (None, False)])
def test_a_target_that_is_missed_is_a_warning(tmp_path, fps, warned):
    blueprint = Blueprint("b.yaml", target=Target(fps=fps), steps=())
    result = build(graphs.quant_mlp(), blueprint, tmp_path / "out", steps=[slow], verify=False, report=False)
    expected = (
        "the estimate of 200,000 frames per second is below the target of 200,001; the slowest layers, and why they "
        "cannot be faster, are in the report"
    )
    assert result.warnings == ((expected,) if warned else ())


@pytest.mark.parametrize(
    ("step", "file"),
    [
        ("cleanup", "checkpoints/03_cleanup.onnx"),
        ("finn:step_streamline", "checkpoints/03_finn_step_streamline.onnx"),
        ("lambda at a b.py:7", "checkpoints/03_lambda_at_a_b.py_7.onnx"),
        ("../../etc", "checkpoints/03_.._.._etc.onnx"),
    ],
)
def test_checkpoints_have_names_that_every_file_system_takes(step, file):
    assert checkpoint_name(3, step) == file
