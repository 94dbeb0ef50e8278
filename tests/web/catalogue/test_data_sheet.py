"""Data sheets: read as data, or reported with what is wrong."""

import json

import pytest

from brainsmith.web.catalogue.data_sheet import SCHEMA, DataSheet, read_data_sheet

from .made import record

POINT = {"PE": 2, "cycles": 8, "lut": 10, "ff": 12, "bram18": 0, "dsp": 1, "uram": 0}
SHEET = {"schema": SCHEMA, "case": "4 INT4", "attributes": ["PE"], "points": [POINT], "timing": "core.svg"}


@pytest.fixture
def backend(tmp_path):
    (tmp_path / "data_sheets").mkdir()
    (tmp_path / "data_sheets" / "core.svg").write_text("<svg/>")
    return record("PadRTL", "backend", source="class PadRTL: ...\n", folder=tmp_path)


def sheet(backend, content):
    folder = tmp = backend.file.rpartition("/")[0]
    with open(f"{folder}/data_sheets/PadRTL.json", "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    found, problem = read_data_sheet(backend)
    start = f"{tmp}/data_sheets/PadRTL.json: the data sheet cannot be used: "
    assert problem == "" or problem.startswith(start)
    return found, problem.removeprefix(start)


def test_a_sheet_lies_beside_the_source(backend):
    assert read_data_sheet(backend) == (None, "")
    assert sheet(backend, SHEET) == (DataSheet("4 INT4", ("PE",), (POINT,), "<svg/>"), "")
    assert read_data_sheet(record("PadRTL", "backend", origin="acme 1.0, entry point 'x'")) == (None, "")
    assert read_data_sheet(backend.replace(name="../core")) == (None, "")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema": "other/1"}, f"its schema is not {SCHEMA!r}"),
        ({"case": 3}, "case and timing must be texts"),
        ({"timing": "../core.svg"}, "timing must name an SVG file in the same folder"),
        ({"timing": "core.html"}, "timing must name an SVG file in the same folder"),
        ({"attributes": "PE"}, "attributes must be a list of names"),
        ({"attributes": ["lut"]}, "attributes must be up to 4 names other than cycles, lut, ff, bram18, dsp, uram"),
        ({"points": 3}, "points must be a list of up to 500"),
        ({"points": [{}]}, "each point must state PE, cycles, lut, ff, bram18, dsp, uram"),
        ({"points": [{**POINT, "PE": 0}]}, "PE of a point must be a whole number, 1 or more"),
        ({"points": [{**POINT, "lut": True}]}, "lut of a point must be a whole number, 0 or more"),
        ({"points": [{**POINT, "lut": 1e3}]}, "lut of a point must be a whole number, 0 or more"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_sheet_is_reported(backend, change, problem):
    assert sheet(backend, {**SHEET, **change}) == (None, problem)


def test_a_file_that_is_no_sheet_is_reported(backend):
    assert sheet(backend, "[") == (None, "Expecting value: line 1 column 2 (char 1)")
    assert sheet(backend, "[" * 100_000)[0] is None
    assert sheet(backend, " " * 1_000_001) == (None, "PadRTL.json has more than 1,000,000 bytes")
    assert sheet(backend, {**SHEET, "timing": "gone.svg"})[1].endswith("/data_sheets/gone.svg'")
