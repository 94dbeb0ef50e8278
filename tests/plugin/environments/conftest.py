"""Two real environments with other versions of numpy and qonnx, made once for all tests that want them."""

import pytest

from brainsmith.plugin.environments.environment_worker import close_workers
from tests.plugin.environments.other_pythons import NEW, OLD, name_environments, real_environment


@pytest.fixture(scope="session")
def old_environment(tmp_path_factory):
    return real_environment(tmp_path_factory.mktemp("environments") / "old", OLD)


@pytest.fixture(scope="session")
def new_environment(tmp_path_factory):
    return real_environment(tmp_path_factory.mktemp("environments") / "new", NEW)


@pytest.fixture
def acme(project, old_environment):
    """A project with one real environment, whose worker ends with the test."""
    name_environments(project, acme=old_environment)
    yield project
    close_workers()


@pytest.fixture
def both(acme, old_environment, new_environment):
    """The same with two."""
    name_environments(acme, acme=old_environment, newer=new_environment)
    return acme
