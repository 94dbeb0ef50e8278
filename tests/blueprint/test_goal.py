import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.blueprint.goal import _period


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("5 ns", 5.0),
        ("5ns", 5.0),
        ("'5 ns'", 5.0),
        ("5000 ps", 5.0),
        ("0.01 us", 10.0),
        ("200 MHz", 5.0),
        ("200 mhz", 5.0),
        ("0.2 GHz", 5.0),
        ("200000 kHz", 5.0),
        ("5", 5.0),
        ("3.3", 3.3),
        ("1e1", 10.0),
        ("200 ns", 200.0),
    ],
)
def test_a_clock_is_a_period_in_ns(files, written, expected):
    assert files.body(f"target: {{clock: {written}}}").goal.clock_ns == pytest.approx(expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("fast", "target.clock must be '5 ns', '200 MHz' or a number of ns, not 'fast'"),
        ("5 s", "target.clock must be '5 ns', '200 MHz' or a number of ns, not '5 s'"),
        ("5:00", "target.clock must be '5 ns', '200 MHz' or a number of ns, not '5:00'"),
        ("true", "target.clock must be '5 ns', '200 MHz' or a number of ns, not True"),
        (".inf", "target.clock must be '5 ns', '200 MHz' or a number of ns, not inf"),
        ("[5]", "target.clock must be '5 ns', '200 MHz' or a number of ns, not a list"),
        ("~", "target.clock must be '5 ns', '200 MHz' or a number of ns, not null"),
        ("0", "target.clock must be from 0.5 to 1000 ns (2 GHz to 1 MHz), not 0 ns"),
        ("-5", "target.clock must be from 0.5 to 1000 ns (2 GHz to 1 MHz), not -5 ns"),
        ("0 MHz", "target.clock must be from 0.5 to 1000 ns (2 GHz to 1 MHz), not 0 ns"),
        ("5 GHz", "target.clock must be from 0.5 to 1000 ns (2 GHz to 1 MHz), not 0.2 ns"),
        ("200", "target.clock without a unit is in ns: write '200 MHz' or '200 ns'"),
    ],
)
def test_a_wrong_clock_is_said(files, written, expected):
    assert files.body_errors(f"target: {{clock: {written}}}") == [f"x.yaml:2:19: {expected}"]


@given(st.floats(min_value=0.001, max_value=1e6, allow_nan=False))
def test_a_period_and_its_frequency_are_the_same_clock(period):
    assert _period(f"{period:.12f} ns") == pytest.approx(period, rel=1e-6)
    assert _period(f"{1e3 / period:.12f} MHz") == pytest.approx(period, rel=1e-6)


@pytest.mark.parametrize(
    "part",
    [
        "xczu7ev-ffvc1156-2-e",
        "xczu3eg-sbva484-1-e",
        "xc7z020clg400-1",
        "xc7a35ticsg324-1L",
        "xcu250-figd2104-2L-e",
        "xcvc1902-vsva2197-2MP-e-S",
        "xcku5p-ffvb676-2-e",
        "xczu28dr-ffvg1517-2-e",
        "xqzu5ev-ffrb900-1-i",
        "xa7z010-1clg225",
    ],
)
def test_device_names_of_every_family_are_taken(files, part):
    assert files.body(f"target: {{part: {part}}}").goal.part == part


@pytest.mark.parametrize("part", ["Pynq-Z9", "xczu7ev", "5", "xczu7ev_ffvc1156", "[x]"])
def test_other_names_are_no_device(files, part):
    (error,) = files.body_errors(f"target: {{part: {part}}}")
    shown = {"5": "5", "[x]": "a list"}.get(part, repr(part))
    hint = ". Did you mean 'pynq-z2'?" if part == "Pynq-Z9" else ""
    assert error == (
        "x.yaml:2:18: target.part must be a device name with package and speed grade, such as "
        f"xczu7ev-ffvc1156-2-e, or a board, such as pynq-z2, not {shown}{hint}"
    )


@pytest.mark.parametrize("board", ["pynq-z2", "Pynq_Z2", "PYNQ Z2"])
def test_a_board_stands_for_its_part(files, board):
    assert files.body(f"target: {{part: {board}}}").goal.part == "xc7z020clg400-1"
    declared = files.body(f"target: {{part: {board}, device: {{lut: 1, ff: 2, bram18: 3, dsp: 4}}}}").goal
    assert (declared.part, declared.device["lut"]) == ("xc7z020clg400-1", 1)


@pytest.mark.parametrize(("written", "expected"), [("100000", 100000), ("1e5", 100000), ("100_000", 100000)])
def test_fps_is_a_whole_number(files, written, expected):
    assert files.body(f"target: {{fps: {written}}}").goal.fps == expected


@pytest.mark.parametrize(
    ("written", "shown"),
    [("0", "0"), ("1.5", "1.5"), ("many", "'many'"), ("true", "True"), ("{}", "a mapping")],
)
def test_a_wrong_rate_is_said(files, written, shown):
    errors = files.body_errors(f"target: {{fps: {written}}}")
    assert errors == [f"x.yaml:2:17: target.fps must be a positive whole number, not {shown}"]


def test_a_target_says_nothing_by_default(files):
    goal = files.body("target: ~").goal
    assert (goal.part, goal.clock_ns, goal.fps) == (None, None, None)
    assert files.body_errors("target: xc7z020clg400-1") == [
        "x.yaml:2:11: target must be a mapping, not 'xc7z020clg400-1'"
    ]
    assert files.body_errors("target: {prat: x}") == [
        "x.yaml:2:12: unknown key 'prat' in target. Did you mean 'part'?"
    ]


def test_a_part_that_does_not_exist_is_said_where_it_stands(files):
    assert files.body_errors("target: {part: xczu8ev-ffvc1156-2-e}") == [
        "x.yaml:2:18: target.part: no device 'xczu8ev' is known, for the part 'xczu8ev-ffvc1156-2-e'. Did you mean "
        "'xczu7ev' or 'xczu5ev' or 'xczu4ev'?",
        "  one that is not listed is declared beside it: target: {part: ..., device: {lut: 117120, ff: 234240, "
        "bram18: 288, uram: 64, dsp: 1248}}",
    ]


def test_a_device_can_be_declared(files):
    text = "target: {part: xczu8ev-ffvc1156-2-e, device: {lut: 10, ff: 2e1, bram18: 3, dsp: 4}}"
    assert files.body(text).goal.device == {"lut": 10, "ff": 20, "bram18": 3, "dsp": 4, "uram": 0}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "part: xczu8ev-ffvc1156-2-e, device: {lut: 10, bram18: 3}",
            "2:40: target.device does not say how many it has: ff, dsp",
        ),
        (
            "part: xczu7ev-ffvc1156-2-e, device: {lut: -1, ff: 1, bram18: 3, dsp: 1}",
            "2:54: target.device.lut must be a whole number from 0 to 1,000,000,000, not -1",
        ),
        (
            "device: {lut: 1, ff: 1, bram18: 3, dsp: 1}",
            "2:12: target.device says what the part holds, and needs target.part: its name",
        ),
        (
            "part: xczu7ev-ffvc1156-2-e, device: {lut: 1, ff: 1, bram18: 3, dsp: 1, brams: 2}",
            "2:83: unknown key 'brams' in target.device. Did you mean 'bram18' or 'uram'?",
        ),
    ],
)
def test_a_wrong_device_is_said(files, written, expected):
    assert files.body_errors(f"target: {{{written}}}") == [f"x.yaml:{expected}"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{}", (None, "fps", None)),
        ("{use: 80 %}", (0.8, "fps", None)),
        ("{use: 12.5%, goal: latency}", (0.125, "latency", None)),
        ("{use: 1, at_least: {fps: 1000}}", (1.0, "fps", 1000)),
        ("{goal: resources, at_least: {fps: 1e4}}", (None, "resources", 10000)),
    ],
)
def test_a_fit_is_a_share_a_goal_and_what_must_be_reached(files, written, expected):
    fit = files.body(f"target: {{part: pynq-z2, fit: {written}}}").goal.fit
    assert (fit.use, fit.goal, fit.fps) == expected


RANGE = "target.fit.use must be more than 0 % and at most 100 % of the device, not"


@pytest.mark.parametrize(
    ("written", "column", "expected"),
    [
        ("{use: 0}", 23, f"{RANGE} 0 %"),
        ("{use: 0 %}", 23, f"{RANGE} 0 %"),
        ("{use: 200 %}", 23, f"{RANGE} 200 %"),
        ("{use: 80}", 23, f"{RANGE} 8,000 %. Did you mean '80 %'?"),
        ("{use: 101}", 23, f"{RANGE} 10,100 %"),
        ("{use: -1}", 23, f"{RANGE} -100 %"),
        ("{use: most}", 23, "target.fit.use must be a share of the device, such as 80 %, not 'most'"),
        ("{use: [1]}", 23, "target.fit.use must be a share of the device, such as 80 %, not a list"),
        (
            "{goal: fast}",
            24,
            "target.fit.goal must be one of fps, latency, resources, not 'fast'",
        ),
        (
            "{goal: resources}",
            24,
            "target.fit.goal: resources needs the rate that the smallest circuit must reach: at_least: {fps: 1000}",
        ),
        (
            "{at_least: {fps: 0}}",
            34,
            "target.fit.at_least.fps must be a positive whole number, not 0",
        ),
        ("{uses: 1}", 18, "unknown key 'uses' in target.fit. Did you mean 'use'?"),
    ],
)
def test_a_wrong_fit_is_said(files, written, column, expected):
    assert files.body_errors(f"target: {{fit: {written}}}") == [f"x.yaml:2:{column}: {expected}"]


def test_a_rate_beside_a_fit_is_refused(files):
    said = "target.fit and target.fps both choose the foldings: leave fps out, or write fit: {at_least: {fps: ...}}"
    assert files.body_errors("target: {fit: {}, fps: 10}") == [f"x.yaml:2:21: {said}"]
