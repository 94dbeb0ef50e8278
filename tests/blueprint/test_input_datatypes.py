import pytest

from brainsmith.blueprint.input_datatypes import stated_inputs
from brainsmith.blueprint.schema import InputDatatypes
from brainsmith.errors import BuildError

WANTED = "a datatype of integers, such as UINT8, INT4 or BIPOLAR"
KEY = f"inputs.datatype must be {WANTED}, not"


@pytest.mark.parametrize(
    ("written", "every", "named"),
    [
        ("{datatype: UINT8}", "UINT8", {}),
        ("{image: {datatype: UINT8}}", "", {"image": "UINT8"}),
        ("{datatype: INT4, mask: {datatype: BIPOLAR}}", "INT4", {"mask": "BIPOLAR"}),
        ("{datatype: {datatype: BINARY}}", "", {"datatype": "BINARY"}),  # an input of this name
        ("{}", "", {}),
        ("~", "", {}),
    ],
)
def test_datatypes_of_all_inputs_and_of_some(files, written, every, named):
    assert files.body(f"inputs: {written}").inputs == InputDatatypes(every, named)


@pytest.mark.parametrize(
    ("written", "place", "expected"),
    [
        ("{datatype: UNIT8}", "2:22", f"{KEY} 'UNIT8', which is not one. Did you mean 'UINT8'?"),
        ("{datatype: uint8}", "2:22", f"{KEY} 'uint8', which is not one. Did you mean 'UINT8'?"),
        ("{datatype: FLOAT32}", "2:22", f"{KEY} 'FLOAT32', which is not one"),
        ("{datatype: INT65}", "2:22", f"{KEY} 'INT65', which has 65 bits, and there can be 1 to 64"),
        ("{datatype: 8}", "2:22", f"{KEY} 8"),
        ("{datatype: ~}", "2:22", f"{KEY} null"),
        ("{image: UINT8}", "2:19", "inputs.image must be a mapping with the key datatype, such as {datatype: UINT8}"),
        ("{image: ~}", "2:12", "inputs.image must be a mapping with the key datatype, such as {datatype: UINT8}"),
        ("{image: {}}", "2:19", "inputs.image must be a mapping with the key datatype, such as {datatype: UINT8}"),
        ("{image: {type: UINT8}}", "2:20", "unknown key 'type' in inputs.image. Did you mean 'datatype'?"),
        ("UINT8", "2:11", "inputs must be a mapping, not 'UINT8'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(files, written, place, expected):
    assert files.body_errors(f"inputs: {written}") == [f"x.yaml:{place}: {expected}"]


def test_the_place_of_each_is_kept(files):
    found = files.body("inputs: {datatype: INT4, mask: {datatype: BIPOLAR}}").inputs.positions
    assert {name: (place.line, place.column) for name, place in found.items()} == {
        "": (2, 22),
        "mask": (2, 28),
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("UINT8", InputDatatypes("UINT8")),
        ("image=UINT8", InputDatatypes("", {"image": "UINT8"})),
        ("image=UINT8, mask=INT4", InputDatatypes("", {"image": "UINT8", "mask": "INT4"})),
        ({"image": "UINT8"}, InputDatatypes("", {"image": "UINT8"})),
        (InputDatatypes("INT3"), InputDatatypes("INT3")),
    ],
)
def test_the_argument_of_a_build_states_the_same(given, expected):
    assert stated_inputs(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("UINT", f"input_datatype must be {WANTED}, not 'UINT', which is not one. Did you mean 'UINT8'?"),
        (8, f"input_datatype must be {WANTED}, not 8"),
        ("a=UINT8,a=INT4", "input_datatype must name each input once, as in image=UINT8,mask=INT4, not 'a=UINT8,a=INT4'"),
        ("image=", f"input_datatype of input 'image' must be {WANTED}, not '', which is not one"),
    ],
)  # fmt: skip
def test_another_argument_is_refused(given, expected):
    with pytest.raises(BuildError) as caught:
        stated_inputs(given)
    assert str(caught.value) == expected
