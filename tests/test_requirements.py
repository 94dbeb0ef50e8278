"""What pyproject.toml declares is what make installs and what the tests use."""

import importlib.metadata
import importlib.util
import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.test_architecture import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def stated(name):
    """The versions in a file of requirements."""
    return dict(
        re.match(r"([^=]+)==([^ ;]+)", line).groups()
        for line in (ROOT / "requirements" / name).read_text().splitlines()
        if line and not line.startswith("#")
    )


LOCKED = stated("lock.txt")
SITE = stated("docs.txt")
IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(extra):
    """The distributions of an extra, those of the extras that it names included."""
    for line in EXTRAS[extra]:
        own = re.match(r"brainsmith\[(.*)\]$", line)
        if own:
            for other in own.group(1).split(","):
                yield from declared(other)
        else:
            yield line


@pytest.mark.parametrize(
    "group", ["dependencies", "rtl", "hls", "bench", "serve", "metrics", "watch", "test", "check"]
)
def test_make_installs_all_of_it_in_a_version_that_fits(group):
    locked = {normalised(name): version for name, version in LOCKED.items()}
    lines = PROJECT["dependencies"] if group == "dependencies" else list(declared(group))
    for line in lines:
        wanted = Requirement(line)
        assert wanted.specifier.contains(locked[normalised(wanted.name)]), line


@pytest.mark.slow
def test_what_the_tests_import_is_declared():
    """FINN is an extra of its own, and the tests of torch are run where somebody has it."""
    wanted = ["brainsmith", *PROJECT["dependencies"], *declared("test"), *EXTRAS["finn"], *EXTRAS["train"]]
    known = {normalised(re.match(r"[\w.-]+", line).group()) for line in wanted}
    installed = importlib.metadata.packages_distributions()
    undeclared = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for name in set(IMPORT.findall(path.read_text(encoding="utf-8"))):
            if name in installed and not known & set(map(normalised, installed[name])):
                undeclared[name] = str(path.relative_to(ROOT))
    assert undeclared == {}


def test_the_packages_of_the_site_are_stated_once_and_at_the_versions_of_the_extra():
    site = {normalised(name): version for name, version in SITE.items()}
    assert site.keys() & set(map(normalised, LOCKED)) == set()
    for line in declared("docs"):
        name, version = line.split("==")
        assert site[normalised(name)] == version


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("mkdocs"), reason="needs the packages of the site: make docs"
)
def test_all_that_the_packages_of_the_site_require_is_stated_in_a_version_that_fits():
    versions = {normalised(name): version for name, version in (LOCKED | SITE).items()}
    lines = [line for name in SITE for line in importlib.metadata.requires(name) or ()]
    wanted = [Requirement(line) for line in lines]
    wanted = [each for each in wanted if not each.marker or each.marker.evaluate({"extra": ""})]
    assert len(wanted) > 20
    unfit = [str(each) for each in wanted if versions.get(normalised(each.name), "") not in each.specifier]
    assert unfit == []
