from brainsmith.build.device_use import beyond_text, device_line, device_use
from brainsmith.rtl.devices.device import FpgaDevice

DEVICE = FpgaDevice("xc7z010", 17600, 35200, 120, 0, 80)
SYNTHESIS = {"lut": 1760, "lutram": 5, "ff": 3520, "bram18": 12, "uram": 0, "dsp": 8}
ESTIMATE = {"lut": 176, "bram18": 6, "dsp": 4, "lut_not_modelled": ["a"]}


def test_synthesised_figures_come_first():
    use = device_use(DEVICE, SYNTHESIS, ESTIMATE, [])
    assert use == {
        "name": "xc7z010",
        "declared": False,
        "source": "synthesis",
        "lower_bound": [],
        "resources": {
            "lut": {"available": 17600, "used": 1760, "share": 0.1},
            "ff": {"available": 35200, "used": 3520, "share": 0.1},
            "bram18": {"available": 120, "used": 12, "share": 0.1},
            "uram": {"available": 0, "used": 0, "share": None},
            "dsp": {"available": 80, "used": 8, "share": 0.1},
        },
    }
    assert device_line(use) == "xc7z010: 10.0 % of LUT, 10.0 % of FF, 10.0 % of BRAM18, 10.0 % of DSP"
    assert beyond_text(use) == ""


def test_estimates_count_where_nothing_was_synthesised():
    use = device_use(
        DEVICE, None, ESTIMATE | {"ff": 352, "uram": 2}, [{"lut": 176, "ff": 352}, {"lut": None, "ff": None}]
    )
    assert {key: held["used"] for key, held in use["resources"].items()} == {
        "lut": 176, "ff": 352, "bram18": 6, "uram": 2, "dsp": 4,
    }  # fmt: skip
    assert device_line(use) == (
        "xc7z010: at least 1.0 % of LUT, at least 1.0 % of FF, 5.0 % of BRAM18, 5.0 % of DSP (estimated)"
    )
    assert beyond_text(use) == (
        "the design does not fit xc7z010: by the estimate it needs too much of URAM (2 of 0); lower the target rate, or "
        "take a larger part"
    )


def test_a_design_beyond_its_device_is_said():
    use = device_use(DEVICE, SYNTHESIS | {"lut": 35200, "dsp": 81}, ESTIMATE, [])
    assert beyond_text(use) == (
        "the design does not fit xc7z010: by the synthesis it needs too much of LUT (35,200 of 17,600, 200 %), DSP (81 of "
        "80, 101 %); lower the target rate, or take a larger part"
    )


def test_a_build_without_a_part_or_without_figures():
    assert device_use(None, SYNTHESIS, ESTIMATE, []) is None
    assert beyond_text(None) == ""
    use = device_use(FpgaDevice("mine", 1, 2, 3, 0, 4, declared=True), None, None, [])
    assert (use["source"], device_line(use), beyond_text(use)) == (None, "mine (as declared)", "")
