"""What backends state of the layers that were synthesised and are kept with the benchmark (benchmarks/calibrate.py)."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()
BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from calibration_points import POINTS, point  # noqa: E402
from qonnx.custom_op.registry import getCustomOp  # noqa: E402

from brainsmith.rtl.cores.trial import make_model  # noqa: E402
from brainsmith.rtl.resource_models.finn_cores import CORES  # noqa: E402
from brainsmith.rtl.resource_models.layer_needs import layer_needs  # noqa: E402

EXACT, LARGE = ("bram18", "dsp", "uram"), 100
"""Errors of smaller figures are shares of this one."""

MEDIAN, NEARLY_ALL = 0.1, 0.25
OWN = [
    name
    for name in POINTS
    if name.split()[0] not in CORES and (BENCHMARKS / "calibration" / f"{name}.jsonl").exists()
]


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_a_backend_states_what_its_core_needs(name):
    """A core that is altered leaves layers behind that are no longer as it is: they are synthesised anew then."""
    errors, wrong = {"lut": [], "ff": []}, []
    for row in map(
        json.loads, (BENCHMARKS / "calibration" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ):
        model = make_model([point(name, row["point"])])
        stated = layer_needs(getCustomOp(model.graph.node[0]), row["part"], model)
        used = row["used"]
        wrong += [row["point"] for kind in EXACT if getattr(stated, kind) != used[kind]]
        for kind, found in errors.items():
            found.append(abs(getattr(stated, kind) - used[kind]) / max(used[kind], LARGE))
    assert wrong == []
    for found in errors.values():
        median, most = np.percentile(found, (50, 95))
        assert (median <= MEDIAN, most <= NEARLY_ALL) == (True, True), (median, most)
