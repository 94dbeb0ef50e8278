"""Versions: printed, parsed, ordered and compared, and ranges of them."""

import pickle
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brainsmith
from brainsmith.errors import BrainsmithError, BundleDefinitionError
from brainsmith.plugin.version import Version, VersionRange
from tests.plugin.installed import ROOT, run_python

NUMBERS = st.integers(0, 10**6)
VERSIONS = st.builds(Version, NUMBERS, NUMBERS, NUMBERS) | st.builds(
    Version, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)
)


def refused(call, *arguments):
    with pytest.raises(BundleDefinitionError) as caught:
        call(*arguments)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BrainsmithError)
    return str(caught.value)


def test_a_version_has_three_numbers_and_prints_them():
    version = Version(1, 2, 3)
    assert (version.major, version.minor, version.patch) == (1, 2, 3)
    assert (str(version), f"{version}", repr(version)) == ("1.2.3", "1.2.3", "Version(1, 2, 3)")
    assert Version.parse("1.2.3") == version
    assert pickle.loads(pickle.dumps(version)) == version


def test_the_host_is_0_1_0_by_its_one_constant_which_the_distribution_has_too():
    assert Version.current() == Version(0, 1, 0) == Version.parse(brainsmith.__version__)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == str(Version.current())


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "1.2.3.4", "1.2.x", "v1.2.3", "1.-2.3", "1.2.03", " 1.2.3", "1.2.³", None, 1.2]
)
def test_a_text_that_is_no_version_is_refused(text):
    assert refused(Version.parse, text) == (f"a version must be three numbers such as '1.0.0', not {text!r}")


@pytest.mark.parametrize(
    ("parts", "what", "bad"),
    [((-1, 0, 0), "major", "-1"), ((0, True, 0), "minor", "True"), ((0, 0, "1"), "patch", "'1'")],
)
def test_a_part_that_is_no_number_is_refused(parts, what, bad):
    message = f"{what} of a version must be a whole number, 0 or more, not {bad}"
    assert refused(Version, *parts) == message


def test_a_version_cannot_be_changed():
    version = Version(1, 2, 3)
    with pytest.raises(AttributeError, match=r"^version 1\.2\.3 cannot be changed$"):
        version.major = 2
    with pytest.raises(AttributeError):
        version._parts = (2, 0, 0)


def test_numbers_are_ordered_as_numbers_and_not_as_text():
    assert Version.parse("0.10.0") > Version.parse("0.9.0")
    assert Version.parse("2.0.0") > Version.parse("1.99.99")


def test_a_version_is_no_tuple_and_no_text():
    assert Version(1, 0, 0) != (1, 0, 0)
    assert Version(1, 0, 0) != "1.0.0"
    with pytest.raises(TypeError):
        assert Version(1, 0, 0) < "2.0.0"


@pytest.mark.parametrize(
    ("version", "minimum", "compatible"),
    [
        ("1.2.3", "1.2.3", True),
        ("1.3.0", "1.2.3", True),
        ("1.2.2", "1.2.3", False),
        ("2.0.0", "1.2.3", False),
        ("0.1.0", "999.0.0", False),
        ("0.2.0", "0.1.0", True),
    ],
)
def test_compatible_means_equal_major_and_not_older(version, minimum, compatible):
    assert Version.parse(version).is_compatible_with(Version.parse(minimum)) is compatible


@given(VERSIONS)
def test_law_what_is_printed_is_parsed_again(version):
    assert Version.parse(str(version)) == version
    assert eval(repr(version), {"Version": Version}) == version
    assert version.is_compatible_with(version)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_law_the_order_is_total(a, b, c):
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a <= b) == (a < b or a == b) == (not a > b) == (b >= a)
    assert not (a <= b and b <= c) or a <= c
    assert a != b or hash(a) == hash(b)
    assert sorted([a, b, c]) == sorted([c, a, b])


@given(VERSIONS, VERSIONS, VERSIONS)
def test_law_compatibility_is_transitive_within_a_major(a, b, c):
    if a.is_compatible_with(b) and b.is_compatible_with(c):
        assert a.major == b.major == c.major
        assert a.is_compatible_with(c)
    if a.is_compatible_with(b) and b.is_compatible_with(a):
        assert a == b


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("", ["0.0.0", "9.9.9"], []),
        (">=1.0", ["1.0.0", "7.0.0"], ["0.9.9"]),
        (">=1.0, <2", ["1.0.0", "1.99.0"], ["2.0.0", "0.9.0"]),
        ("==1.2.3", ["1.2.3"], ["1.2.4"]),
        ("!= 1.2.3,>1", ["1.2.4"], ["1.2.3", "1.0.0"]),
        ("<=1.2", ["1.2.0"], ["1.2.1"]),
    ],
)
def test_a_range_holds_versions(text, inside, outside):
    wanted = VersionRange(text)
    assert [v for v in inside if Version.parse(v) not in wanted] == []
    assert [v for v in outside if Version.parse(v) in wanted] == []
    assert VersionRange(str(wanted)) == wanted
    assert hash(VersionRange(str(wanted))) == hash(wanted)


def test_a_range_prints_as_it_is_written():
    assert str(VersionRange(">=1.0 ,<2")) == ">=1.0.0, <2.0.0"
    assert repr(VersionRange("==1")) == "VersionRange('==1.0.0')"


@pytest.mark.parametrize("text", ["1.0", ">=", ">=x", "~=1.0", ">=1.0,", "=1", ">=1.2.3.4", None])
def test_a_text_that_is_no_range_is_refused(text):
    assert refused(VersionRange, text) == (
        f"a range of versions must be comparisons such as '>=1.0' or '>=1.0, <2', not {text!r}"
    )


def test_versions_cost_no_import(tmp_path):
    code = """
    from __future__ import annotations
    import json, sys
    before = set(sys.modules)
    from brainsmith.plugin.version import Version
    Version.parse("1.2.3") < Version.current()
    print(json.dumps(sorted(m for m in set(sys.modules) - before if not m.startswith("brainsmith"))))
    """
    assert run_python(code, cwd=tmp_path) == []


def test_a_number_has_up_to_nine_digits():
    assert Version.parse("1.0.999999999") == Version(1, 0, 999999999)
    for call in (
        lambda: Version(0, 10**9, 0),
        lambda: Version.parse("1.0." + "1" * 5000),
        lambda: VersionRange(">=1.1000000000"),
    ):
        with pytest.raises(BundleDefinitionError, match="must have up to 9 digits, not "):
            call()
