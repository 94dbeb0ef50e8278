"""What changed between two catalogues."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.web.catalogue.changes import MOST_KEPT, compare, remembered


def plugin(name, **stated):
    return {"type": "op", "framework": "acme", "name": name, "page": f"op/acme.{name}.html", **stated}


def test_added_removed_and_changed_plugins_are_named_with_what_differs():
    before = {"a": plugin("A"), "b": plugin("B", stage="early", tags=["x"]), "c": plugin("C")}
    after = {"b": plugin("B", stage="late", author="me"), "c": plugin("C"), "d": plugin("D")}
    change = compare(before, after)
    named = {name: [one["key"] for one in change[name]] for name in ("added", "removed", "changed")}
    assert named == {"added": ["d"], "removed": ["a"], "changed": ["b"]}
    assert change["changed"][0]["fields"] == {
        "author": {"before": None, "after": "me"},
        "stage": {"before": "early", "after": "late"},
        "tags": {"before": ["x"], "after": None},
    }
    assert change["plugins"] == {"before": 3, "after": 3}


def test_a_new_version_of_a_provider_is_one_change_and_not_one_of_each_plugin():
    before = {"a": plugin("A", provider="finn-plus 1.6.1", version="1.6.1")}
    after = {"a": plugin("A", provider="finn-plus 1.7.0", version="1.7.0"), "b": plugin("B")}
    change = compare(before, after)
    assert change["changed"] == []
    assert change["providers"] == {"before": ["finn-plus 1.6.1"], "after": ["finn-plus 1.7.0"]}
    assert compare(before, {"a": after["a"]})["changed"] == []
    own = {"a": plugin("A", provider="finn-plus 1.6.1", version="2.0")}
    assert compare(before, own)["changed"][0]["fields"] == {"version": {"before": None, "after": "2.0"}}


def test_where_a_page_is_says_nothing_about_a_plugin():
    assert compare({"a": plugin("A")}, {"a": {**plugin("A"), "page": "elsewhere"}}) is None


def test_the_newest_changes_are_remembered():
    assert remembered(None, [{"n": 1}]) == [{"n": 1}]
    long = [{"n": number} for number in range(MOST_KEPT)]
    assert remembered({"n": "new"}, long) == [{"n": "new"}, *long[:-1]]


PLUGINS = st.dictionaries(
    st.sampled_from("abcde"),
    st.builds(plugin, st.sampled_from("AB"), stage=st.sampled_from([None, "x", "y"])),
)


@given(PLUGINS, PLUGINS)
def test_a_change_is_there_exactly_where_something_differs_and_turns_round(before, after):
    there, back = compare(before, after), compare(after, before)
    assert (there is None) == (before == after)
    if there is not None:
        for one, other in (("added", "removed"), ("changed", "changed")):
            assert sorted(found["key"] for found in there[one]) == sorted(
                found["key"] for found in back[other]
            )
