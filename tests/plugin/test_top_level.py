"""Both readings of a file give the same: over real files, over files made to mislead, and over generated ones."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import re
import sysconfig
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.plugin.top_level import exact_classes, functions
from tests.plugin.sources import source

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])


def plain(definitions):
    return [(item.name, item.bases, item.start) for item in definitions]


def both(data):
    """Return what the two readings find in a file; None if it is not Python."""
    try:
        exact = plain(exact_classes(source(data)))
    except SyntaxError:
        return None
    return plain(source(data).classes), exact


def differences(files):
    """Return the files in which the two readings differ, and how many were compared."""
    wrong, compared = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in files:
            found = both(path.read_bytes())
            if found is not None:
                compared += 1
                if found[0] != found[1]:
                    wrong.append(str(path))
    return wrong, compared


def own_files(folder):
    return [path for path in sorted(folder.rglob("*.py")) if "site-packages" not in path.parts]


@pytest.mark.parametrize("package", ["qonnx", pytest.param("finn", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_fast_reading_equals_exact_reading_over_the_frameworks(package):
    if find_spec(package) is None:
        pytest.skip(f"needs {package}")
    wrong, compared = differences(own_files_of(package))
    assert wrong == []
    assert compared > 60


def own_files_of(package):
    return [
        file
        for folder in find_spec(package).submodule_search_locations
        for file in Path(folder).rglob("*.py")
    ]


@pytest.mark.slow
def test_fast_reading_equals_exact_reading_over_a_part_of_the_standard_library():
    names = ("email", "xml", "unittest")
    files = [path for name in names for path in (STANDARD_LIBRARY / name).rglob("*.py")]
    files += [STANDARD_LIBRARY / f"{name}.py" for name in ("typing", "enum", "argparse", "ast")]
    wrong, compared = differences(files)
    assert wrong == []
    assert compared > 45


@pytest.mark.slow
def test_fast_reading_equals_exact_reading_over_the_whole_standard_library():
    wrong, compared = differences(own_files(STANDARD_LIBRARY))
    assert wrong == []
    assert compared > 500


MISLEADING = {
    "a class in a docstring": '"""Example:\nclass Fake(Base):\n    pass\n"""\nclass Real(Base): pass\n',
    "a class in a docstring of single quotes": "'''\nclass Fake(Base):\n    pass\n'''\nclass Real(Base): pass\n",
    "both kinds of quotes": 'x = """\n\'\'\'\n"""\nclass Real(B): pass\ny = \'\'\'\n"""\nclass Fake(B): pass\n"""\n\'\'\'\n',
    "triple quotes in a comment": '# """\nclass Real(B):\n    x = 1\n# """\nclass Other(B): pass\n',
    "triple quotes in a string": 'x = \'"""\'\nclass Real(B): pass\ny = \'"""\'\nclass Other(Real): pass\n',
    "an apostrophe in a comment before a docstring": 'x = 1  # it\'s """\nclass Real(B):\n    """Doc.\nclass Fake(B):\n    """\n',
    "a raw string": 'x = r"""\nclass Fake(B): pass\n\\"""\ny = 1\nclass AlsoFake(B): pass\n"""\nclass Real(B): pass\n',
    "a string that is continued": 'x = "a \\\nclass Fake(Base):\\\n"\nclass Real(Base): pass\n',
    "a string that is continued, CRLF": 'x = "a \\\r\nclass Fake(Base):\\\r\n"\r\nclass Real(Base): pass\r\n',
    "CRLF": "import x\r\n\r\nclass Real(x.Base):\r\n    pass\r\n",
    "old Macintosh line ends": "import x\rclass Real(x.Base):\r    pass\rclass Other(Real): pass\r",
    "mixed line ends": "import x\r\nclass Real(x.Base):\r    pass\r\nclass Other(Real):\n    pass\rclass Third: pass\n",
    "a form feed": "import x\n\x0cclass Real(x.Base):\n    pass\n\x0c\nclass Other: pass\n",
    "a form feed alone": "\n\x0cclass Real(Base): pass\n",
    "a byte order mark": b"\xef\xbb\xbfclass Real(Base): pass\n",
    "a first line": "class Real(Base): pass\nclass Other(Base): pass\n",
    "another encoding": "# -*- coding: latin-1 -*-\nclass Gr\xf6\xdfe(Base): pass\n".encode("latin-1"),
    "names beyond ASCII": "class Größe(Maß): pass\nclass 类(Größe): pass\n",
    "a name that Python normalises": "class ﬁne(Base): pass\n",
    "comments among the bases": "class Real(  # a (comment)\n    Base,  # another, with a comma\n    Other,\n): pass\n",
    "keywords": "class Real(Base, metaclass=Meta, x=1): pass\n",
    "a call among the bases": "class Real(make(Base, 1), Other): pass\n",
    "a generic base": "class Real(Base[int], a.b.Other[str, int]): pass\n",
    "starred bases": "class Real(Base, *others, **more): pass\n",
    "a conditional base": "class Real(a.Base if a else object): pass\n",
    "an odd base": "class Real(not Base, Other): pass\n",
    "a lambda": "class Real(lambda: Base): pass\n",
    "empty parentheses": "class Real(): pass\nclass Other( ): pass\n",
    "no space": "class Real(Base):pass\nclass Other:pass\n",
    "tabs": "class\tReal\t(\tBase\t)\t:\n\tpass\n",
    "a continued header": "class \\\n  Real(Base): pass\nclass Other \\\n (Base) \\\n : pass\n",
    "a name that begins with class": "classes = 1\nclass_ = 2\nclass Real(Base): pass\n",
    "a class in a condition": "if True:\n    class Inner(Base): pass\nclass Real(Base): pass\n",
    "a class in a function": "def f():\n    class Inner(Base): pass\n    return Inner\nclass Real(f()): pass\n",
    "two on a line": "x = 1; y = 2\nclass Real(Base): x = 1; y = 2\n",
    "no line end at the end": "import x\nclass Real(x.Base): pass",
    "an f-string": 'x = f"""\nclass Fake({1}):\n"""\nclass Real(Base): pass\n',
    "adjacent strings": 'x = """a""" """\nclass Fake(B): pass\n""" "b"\nclass Real(B): pass\n',
    "a string that ends in a quote": 'x = """a\\""""\nclass Real(B): pass\ny = """\nclass Fake(B): pass\n"""\n',
    "four quotes": 'x = """"a"""\nclass Real(B): pass\ny = """\nclass Fake(B): pass\n"""\n',
    "an empty string": 'x = ""\nclass Real(B): pass\ny = """"""\nclass Other(B): pass\n',
    "a backslash before a comment's end": "# a \\\nclass Real(Base): pass\n",
    "a continued line before a blank one": "x = 1 + \\\n\\\n2\nclass Real(Base): pass\n",
}


@pytest.mark.parametrize("text", MISLEADING.values(), ids=MISLEADING)
def test_fast_reading_equals_exact_reading_of_a_misleading_file(text):
    data = text if isinstance(text, bytes) else text.encode()
    compile(data, "mod.py", "exec", dont_inherit=True)
    fast, exact = both(data)
    assert fast == exact
    assert all(name not in ("Fake", "AlsoFake", "Inner") for name, _, _ in exact)


PIECES = st.sampled_from(
    [
        "x = 1",
        "import a.b as c",
        "class A(B):",
        "    pass",
        "class Fake:",
        "    x = 2",
        '"""',
        "'''",
        '"',
        "'",
        "\\",
        "#",
        "# it's",
        "@deco",
        "def f(",
        "):",
        "(",
        ")",
        "\x0c",
        "\r",
        "\r\n",
        "\n",
        " ",
        "r'''",
        'b"""',
        "class B(a.b, c): pass",
        "ä",
        "",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14), st.sampled_from(["\n", "\r\n", "", "\\\n"]))
def test_fast_reading_equals_exact_reading_of_any_python(pieces, joint):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = both(joint.join(pieces).encode())
    if found is not None:
        assert found[0] == found[1]


def test_functions_are_found_by_a_pattern_and_never_inside_a_string():
    pattern = re.compile(rb"\ndef (\w+)\(model")
    found = functions(source('"""\ndef fake(model):\n"""\ndef real(model): pass\n'), pattern)
    assert [item.name for item in found] == ["real"]


def test_a_file_that_is_not_python_is_an_error_only_where_it_must_be_parsed():
    assert plain(source("\nclass A(B): pass\nthis is not Python\n").classes) == [("A", ("B",), 1)]
    with pytest.raises(SyntaxError):
        source("\nclass A(B(: pass\n").classes
    with pytest.raises(SyntaxError):
        exact_classes(source("x = 1\0\n"))
