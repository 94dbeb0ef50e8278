import json

from brainsmith.build.estimates import read_estimates


def write(folder, **files):
    (folder / "report").mkdir()
    for name, content in files.items():
        (folder / "report" / f"{name}.json").write_text(json.dumps(content))


def test_our_estimates(tmp_path):
    totals = {"interval_cycles": 1, "latency_cycles": 2, "fps": 3.0, "lut": 4, "ff": 8, "bram18": 5, "dsp": 6}
    totals |= {"uram": 7, "fifos": {"lut": 1}}
    write(tmp_path, estimates={"layers": [{"name": "a", "lut": 4}], "more": 7, **totals})
    layers, estimate = read_estimates(tmp_path, 5.0)
    assert (layers, estimate) == ([{"name": "a", "lut": 4}], {**totals, "lut_not_modelled": []})


def test_layers_say_which_backend_they_have_and_why(tmp_path):
    refused = [{"backend": "a:ARTL", "reason": "it is small"}]
    choice = {"layer": "a", "backend": "b:BRTL", "reason": "choice 2 of 2, listed for A", "refused": refused}
    write(tmp_path, estimates={"layers": [{"name": "a", "lut": 4}]}, backends={"layers": [choice]})
    layers, _ = read_estimates(tmp_path, 5.0)
    assert layers[0]["choice"] == "b:BRTL (choice 2 of 2, listed for A; not a:ARTL: it is small)"


def test_finns_reports(tmp_path):
    write(
        tmp_path,
        estimate_layer_cycles={"MVAU_rtl_0": 100, "Pool_0": 400},
        estimate_layer_resources={"MVAU_rtl_0": {"LUT": 10, "DSP": 2, "BRAM_18K": 1.0, "URAM": 0}},
        estimate_network_performance={"critical_path_cycles": 450},
    )
    layers, estimate = read_estimates(tmp_path, 5.0)
    assert [(layer["op_type"], layer["backend"], layer["lut"]) for layer in layers] == [
        ("MVAU_rtl", "rtl", 10),
        ("Pool", "", None),
    ]
    assert estimate == {
        "interval_cycles": 400,
        "latency_cycles": 450,
        "fps": 500000.0,
        "lut": 10,
        "bram18": 1,
        "dsp": 2,
        "uram": 0,
        "ff": None,
        "fifos": None,
        "lut_not_modelled": ["Pool_0"],
    }


def test_none(tmp_path):
    assert read_estimates(tmp_path, 5.0) == ([], None)
