"""A whole network: layers, FIFOs and all of it agree, and the second time costs nothing."""

import json
from dataclasses import asdict

import pytest

from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.synthesis.synthesis_report import Estimate
from brainsmith.rtl.synthesis.synthesise import synthesise
from tests.rtl.digits import PART, make_digits


@pytest.mark.slow
def test_the_digits_network(store, simulations, tmp_path):
    design = make_digits("mlp", tmp_path).design
    estimates = {"MVAU_rtl_0": Estimate(None, 1, 8), "Thresholding_rtl_0": Estimate(100, 0, 0)}
    report = synthesise(design, PART, estimates=estimates)
    layers = {layer.name: layer for layer in report.layers}
    assert [layer.name for layer in report.layers] == [
        layer.name for layer in design.layers if layer.kernel != "memstream"
    ]
    assert [fifo.name for fifo in report.fifos] == [link.name for link in design.links if link.depth]
    assert [layers[f"MVAU_rtl_{at}"].used.dsp for at in range(3)] == [8, 4, 1]
    assert [layers[f"MVAU_rtl_{at}"].used.bram18 for at in range(3)] == [1, 1, 0]
    assert layers["MVAU_rtl_0"].estimate == Estimate(None, 1, 8)
    alone, used = report.parts_sum, report.used
    assert (used.dsp, used.bram18, used.uram) == (alone.dsp, alone.bram18, 0) == (13, 2, 0)
    assert used.lut == pytest.approx(alone.lut, rel=0.05)
    assert used.ff == pytest.approx(alone.ff, rel=0.05)
    assert 700 <= used.lut <= 1100
    assert report.peak_mb < 1500
    assert "there is no estimate of LUTs for MVAU_rtl_0" in report.notes
    assert any("are shift registers (SRL16E, SRLC32E)" in note for note in report.notes)
    assert 0 < layers["MVAU_rtl_0"].path.ns <= 1.05 * report.path.ns
    ratio = round(report.mvau_ns / layers["MVAU_rtl_0"].path.ns, 2)
    plain = json.loads(json.dumps(report.to_plain()))
    assert Resources(**{name: plain[name] for name in plain["parts_sum"]}) == used
    assert plain["layers"][2] == {
        "lut": layers["MVAU_rtl_0"].used.lut, "lutram": layers["MVAU_rtl_0"].used.lutram,
        "ff": layers["MVAU_rtl_0"].used.ff, "bram18": 1, "dsp": 8, "uram": 0,
        "carry": layers["MVAU_rtl_0"].used.carry, "name": "MVAU_rtl_0", "kernel": "MVAU_rtl",
        "error": {"lut": None, "ff": None},
        "estimate": {"lut": None, "bram18": 1, "dsp": 8, "ff": None, "uram": None}, "seconds": layers["MVAU_rtl_0"].seconds,
        "path": {**asdict(layers["MVAU_rtl_0"].path), "fmax_mhz": layers["MVAU_rtl_0"].path.fmax_mhz, "to_mvau": ratio},
    }  # fmt: skip
    assert synthesise(design, PART, estimates=estimates) == report
