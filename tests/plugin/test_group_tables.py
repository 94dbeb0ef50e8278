"""The groups that a file declares."""

from brainsmith.plugin.group_tables import declared_groups
from tests.plugin.sources import source


def test_groups_are_read():
    text = '"""Doc.\nGROUPS = {"fake": []}\n"""\nGROUPS: dict[str, list[str]] = {"a": ["x", "finn:Y"], "b": ()}\n'
    assert declared_groups(source(text)) == ({"a": ("x", "finn:Y"), "b": ()}, [])


def test_groups_in_the_first_line_are_read():
    assert declared_groups(source('GROUPS = {"a": ["x"]}\n')) == ({"a": ("x",)}, [])


def test_what_is_no_table_of_groups_is_a_problem_and_the_other_tables_count():
    groups, problems = declared_groups(source("GROUPS = {1: []}\nGROUPS = {'a': ('x',)}\n"))
    assert groups == {"a": ("x",)}
    assert [str(problem) for problem in problems] == [
        "mod.py:1: GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code; "
        "found {1: []}"
    ]
