"""Only the toys that a test registers are there."""

import pytest

from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.targets import ResourceManager


@pytest.fixture
def only_toys():
    """Hide the targets that ship, so that what is chosen depends on the test alone."""
    get_plugin_manager().discover_plugins(types=["transform"])


@pytest.fixture
def manager():
    with ResourceManager().initialize(auto_discover=False) as made:
        yield made
