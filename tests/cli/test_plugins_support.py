"""`brainsmith plugins support`: a table for people, columns for pipes, JSON for programs."""

import json

import pytest

from tests.cli.command import in_this_process


@pytest.mark.slow
def test_columns_into_a_pipe(capsys):
    done = in_this_process(capsys, "plugins", "support")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert all(len(row) == 4 for row in rows)
    assert ["Slice", "brainsmith:Crop", "brainsmith:CropRTL", "brainsmith:InferCrop"] in rows
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--limits",)])
def test_json(words, capsys):
    found = json.loads(in_this_process(capsys, "plugins", "support", "--json", *words).stdout)
    if words:
        (lookup,) = [one for one in found if one["backend"] == "brainsmith:LookupRTL"]
        assert lookup["kernel"] == "finn:Lookup"
        assert "its indices are …, which may be negative" in lookup["refuses"]
    else:
        assert {
            "operator": "Clip",
            "becomes": ["thresholds"],
            "transform": "",
            "circuits": [],
        } in found


def test_limits(capsys):
    lines = in_this_process(capsys, "plugins", "support", "--limits").stdout.splitlines()
    assert "brainsmith:LookupRTL\tfinn:Lookup\tits indices are …, which may be negative" in lines
