"""What the tests of bundles share: an empty folder to work in, and a project."""

import json

import pytest

from brainsmith.bundles.bundle_registry import BundleRegistry
from tests.bundles.making import builder, recorded, source
from tests.plugin.conftest import elsewhere, project, site

__all__ = ["elsewhere", "project", "site"]


@pytest.fixture
def bundles():
    return BundleRegistry()


@pytest.fixture
def watched():
    """A bundle 'acme', and the list in which it notes when its functions run."""
    calls = []
    return recorded(builder().build(), calls), calls


@pytest.fixture
def write(tmp_path, site):
    """Write a Python file; return its path."""

    def writing(text, path="acme.py"):
        return str(site.write(path, text.encode()))

    return writing


@pytest.fixture
def put(project):
    """Put a bundle with a `plugin.json` into the project's plugins; return the path of that."""

    def putting(name, *, needs=(), version="1.0.0", text=None, **more):
        folder = f"plugins/{name}"
        text = text if text is not None else source(name, version)
        project.write(f"{folder}/{name}.py", text.encode())
        values = {
            "name": name,
            "version": version,
            "min_brainsmith_version": "0.1.0",
            "module": f"{name}.py",
            "depends_on": dict(needs),
            **more,
        }
        return str(project.write(f"{folder}/plugin.json", json.dumps(values, indent=1).encode()))

    return putting
