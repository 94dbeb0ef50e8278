"""What a blueprint states, for reports: all keys but places, in plain values."""

import json

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.schema import KEYS, Blueprint
from brainsmith.blueprint.stated import stated

TEXT = """\
hw_compiler:
  target: {part: pynq-z2, clock: 5 ns, fit: {use: 50 %, at_least: {fps: 10}}}
  inputs: {datatype: UINT8}
  kernels: {finn:MVAU: [rtl, ~EmbeddedMVAURTL], Pool: ~}
  transforms: [ExpandNorms, {transform: qonnx:GiveUniqueNodeNames, passes: 3}]
  transforms_phased: {pre_hw: [~finn:Streamline]}
  steps: [cleanup, {step: fold, args: {target: 2}}, pre_hw, transforms, ~]
  args: {estimate: {deep: [1, 2.5]}}
  verify:
    {inputs: x.npy, tolerance: 0.5, approximate: {fold: {error: 0.1}}, targets: [numpy, reference], unverified: [cleanup]}
  output: rtl
  strict: true
"""


def test_all_that_is_stated_is_there_as_json_holds_it(tmp_path):
    (tmp_path / "b.yaml").write_text(TEXT)
    plain = stated(load_blueprint(tmp_path / "b.yaml"))
    assert json.loads(json.dumps(plain)) == plain
    assert plain == {
        "target": {"part": "xc7z020clg400-1", "clock_ns": 5.0, "fit": {"use": 0.5, "goal": "fps", "fps": 10}},
        "inputs": {"every": "UINT8"},
        "kernels": ["finn:MVAU: rtl, ~EmbeddedMVAURTL", "Pool"],
        "transforms": ["transform ExpandNorms", "transform qonnx:GiveUniqueNodeNames, 3 passes"],
        "pre_hw": ["transform ~finn:Streamline"],
        "steps": ["cleanup", "fold(target=2)", "pre_hw", "transforms"],
        "args": {"estimate": {"deep": [1, 2.5]}},
        "verify": {
            "inputs": str(tmp_path / "x.npy"),
            "tolerance": {"*": 0.5},
            "approximate": {"fold": {"error": 0.1, "classes": 0}},
            "targets": ["numpy", "reference"],
            "unverified": ["cleanup"],
        },
        "output": "rtl",
        "strict": True,
    }
    assert stated(Blueprint("x.yaml")) == {} and set(KEYS["hw_compiler"]) >= {"target", "steps"}
