"""What a name means that a module imports."""

import pytest

from brainsmith.plugin.bindings import is_bound_once
from tests.plugin.sources import source


@pytest.mark.parametrize(
    ("text", "name", "target"),
    [
        ("\nfrom a.b import C\n", "C", "a.b.C"),
        ("\nfrom a.b import C as D\n", "D", "a.b.C"),
        ("\nfrom a.b import C as D\n", "C", None),
        ("\nfrom a.b import (\n    X,  # C\n    C,\n)\n", "C", "a.b.C"),
        ("\nfrom a.b import X, C, Y\n", "Y", "a.b.Y"),
        ("\nfrom . import C\n", "C", "pack.C"),
        ("\nfrom .other import C\n", "C", "pack.other.C"),
        ("\nimport a.b.c\n", "a", "a"),
        ("\nimport a.b.c as d\n", "d", "a.b.c"),
        ("\nimport x, a.b as c\n", "c", "a.b"),
        ("try:\n    from a import C\nexcept ImportError:\n    from b import C\n", "C", "a.C"),
        ('"""\nfrom fake import C\n"""\nfrom real import C\n', "C", "real.C"),
        ("from a import \\\n    C\n", "C", "a.C"),
        ("from a import C; x = 1\n", "C", "a.C"),
        ("import core\nD = core.C\n", "D", "core.C"),
        ("x = 1\n", "C", None),
    ],
)
def test_a_binding_is_what_the_module_imports(text, name, target):
    assert source(text).binding(name) == target


def test_relative_imports_of_a_package_begin_at_the_package():
    assert (
        source("\nfrom .a import C\n", "pack.sub", "pack/sub/__init__.py", True).binding("C")
        == "pack.sub.a.C"
    )


def test_modules_of_which_everything_is_imported_are_named():
    assert source("from .a import *\nfrom b import *\n").stars() == ("pack.a", "b")
    assert source("x = 'import *'\n").stars() == ()


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("f(target=1)", True),
        ("f(\n    target=1)", True),
        ("f(1,\n    target = 1)", True),
        ("f(x == target == 1)", True),
        ("target = 1", False),
        ("if x:\n    target = 1", False),
        ("x = target = 1", False),
        ("a, target = 1, 2", False),
        ("f((target := 1))", False),
        ("if x:  # of a,\n    target = 1", False),
        ("s = '('; target = 1", False),
        ("def target(): pass", False),
        ("for target in x: pass", False),
    ],
)
def test_an_argument_s_name_is_no_second_binding(text, once):
    found = source(f"from acme import target\n{text}\n")
    assert is_bound_once(found, "target") == once
