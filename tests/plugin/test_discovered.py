"""The records of one discovery after the other are those that the last one alone would give."""

from hypothesis import example, given
from hypothesis import strategies as st

from brainsmith.plugin.discovered import Discovered
from brainsmith.plugin.info import PluginInfo

RECORDS = [
    PluginInfo(name=name, type="step", framework=framework, reference=reference)
    for name in ("one", "two", "three", "four")
    for framework in ("acme", "bravo")
    for reference in ("m:shared", f"m:{name}")
]
ONE, SHARED, OTHER = RECORDS[1], RECORDS[4], RECORDS[8]


@example([RECORDS[1:4:2], [ONE]])
@example([[ONE, SHARED, OTHER], [ONE, SHARED]])
@example([[SHARED], [SHARED, RECORDS[0]]])
@given(st.lists(st.lists(st.sampled_from(RECORDS), unique_by=id), min_size=2, max_size=4))
def test_replacing_in_part_is_replacing_all(discoveries):
    """Files are read in one order, so the records that stay do so in theirs."""
    found = Discovered()
    for drawn in discoveries:
        records = sorted(drawn, key=RECORDS.index)
        found.replace(records)
        fresh = Discovered()
        fresh.replace(records)
        assert found.by_key == fresh.by_key
        assert found.by_reference == fresh.by_reference
        assert sorted(map(id, found)) == sorted(map(id, records))


def test_a_record_that_comes_before_another_of_its_name_is_found_first():
    first, second = RECORDS[0], RECORDS[2]
    found = Discovered()
    found.replace([second, OTHER])
    found.replace([first, second, OTHER])
    assert found.by_key[first.key] == [first, second]


def test_after_a_fork_all_is_entered_anew():
    found = Discovered()
    found.replace([ONE, SHARED, OTHER])
    found.by_key.clear()  # as where another thread was in the midst of it
    found.replace_all_next()
    found.replace([ONE, SHARED, OTHER])
    assert list(found) == [ONE, SHARED, OTHER]
