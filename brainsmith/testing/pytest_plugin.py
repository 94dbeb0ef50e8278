"""The pytest plugin that ships: pytest imports it in each run, so it imports nothing but pytest."""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from brainsmith.testing.installed_distribution import InstalledPlugins


@pytest.fixture
def installed_plugin(tmp_path: Path) -> Iterator[InstalledPlugins]:
    """Install distributions for one test: `installed_plugin("acme", {"acme.py": source}, {"acme": "acme"})`.

    Each is a folder on `sys.path` with a dist-info beside its files, as an installer leaves it. When the test is over, its
    modules are forgotten, and so is all that was discovered.
    """
    from brainsmith.testing.installed_distribution import InstalledPlugins  # only where a test asks for it

    with pytest.MonkeyPatch.context() as patch:
        plugins = InstalledPlugins(tmp_path, patch.syspath_prepend)
        yield plugins
    plugins.forget()
