"""What the tests of bundles share: an empty folder to work in, and a project."""

from tests.plugin.conftest import elsewhere, project, site

__all__ = ["elsewhere", "project", "site"]
