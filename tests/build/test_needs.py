import pytest

from brainsmith.build.needs import require_part
from brainsmith.build.plan import steps_from
from brainsmith.errors import BuildError
from brainsmith.plugin import get_plugin_manager


def steps(*names):
    return steps_from(names, get_plugin_manager().all_records()[0])


def test_the_steps_that_need_the_device_are_named():
    with pytest.raises(BuildError) as caught:
        require_part(steps("cleanup", "specialize", "estimate"), None, "my.yaml")
    assert str(caught.value) == (
        "my.yaml names no device, which 'specialize', 'estimate' need: add `part:` under `hw_compiler: target:`"
    )
    with pytest.raises(BuildError, match="which 'finn:step_specialize_layers' needs: "):
        require_part(steps("finn:step_tidy_up", "finn:step_specialize_layers"), None, "my.yaml")


def test_others_do_without():
    require_part(steps("cleanup", "streamline", "finn:step_tidy_up", lambda m, cfg: m), None, "my.yaml")
    require_part(steps("specialize"), "xc7z020clg400-1", "my.yaml")
