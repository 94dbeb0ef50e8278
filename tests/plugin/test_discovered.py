"""The records of a discovery are found by name, in their order, and by object."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.plugin.discovered import Discovered
from brainsmith.plugin.info import PluginInfo

RECORDS = [
    PluginInfo(name=name, type="step", framework=framework, reference=reference)
    for name in ("one", "two", "three", "four")
    for framework in ("acme", "bravo")
    for reference in ("m:shared", f"m:{name}")
]


@given(st.lists(st.sampled_from(RECORDS), unique_by=id))
def test_law_each_record_is_found_by_its_name_and_its_object(records):
    found = Discovered(records)
    assert sorted(map(id, found)) == sorted(map(id, records))
    for key, named in found.by_key.items():
        assert named == [info for info in records if info.key == key]
    for (kind, reference), info in found.by_reference.items():
        assert info is [each for each in records if (each.type, each.reference) == (kind, reference)][-1]


def test_a_record_that_comes_before_another_of_its_name_is_found_first():
    first, second, other = RECORDS[0], RECORDS[2], RECORDS[8]
    assert Discovered([first, second, other]).by_key[first.key] == [first, second]
