"""Networks whose integers are beyond 2^24, from QONNX to circuits: the exact results, whatever is wide."""

import json

import numpy as np
import pytest

from brainsmith.build import build
from brainsmith.rtl.package.reading import read_package
from brainsmith.rtl.package.running import prepare_package
from brainsmith.targets.rtlsim import RtlSimulation
from tests.build.test_host_of_a_package import host_of
from tests.transforms.wide_nets import CASES

BLUEPRINT = """hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clock: 5 ns, fps: 1000000}
  steps: [cleanup, integer, hardware_inference, specialize, fold, estimate]
  output: simulated
"""


@pytest.mark.slow
@pytest.mark.parametrize("make", CASES)
def test_a_circuit_gives_the_exact_results(make, tmp_path):
    case = make(np.random.default_rng(11))
    assert np.abs(case.sums).max() > 2**24
    (tmp_path / "wide.yaml").write_text(BLUEPRINT)
    result = build(case.model, tmp_path / "wide.yaml", tmp_path / "out", verify_inputs=case.samples)
    assert [step.verified.mismatches for step in result.steps] == [0] * len(result.steps)
    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["mismatches"], found["stalled_mismatches"]) == (0, 0)

    host, package = host_of(result.package), read_package(result.package)
    fed = host.before(case.samples)
    ran = prepare_package(package, frames=len(case.samples))
    given = ran.run({stream.layout.tensor: fed[stream.name] for stream in ran.design.inputs}).outputs
    results = host.behind({stream.name: given[stream.layout.tensor] for stream in ran.design.outputs})
    (values,) = results.values()
    np.testing.assert_array_equal(values, case.wanted.reshape(values.shape))

    target = RtlSimulation()
    simulated = target.execute(target.prepare_resource(result.output), {"x": case.samples[:, 0]})
    (values,) = simulated.values()
    np.testing.assert_array_equal(values, case.wanted.reshape(values.shape))
