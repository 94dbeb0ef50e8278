"""What the name of a device means."""

import pytest

from brainsmith.errors import DeviceError
from brainsmith.runtime.devices import find_device
from brainsmith.targets import get_registry
from tests.runtime.toys import toy


@pytest.fixture
def find(only_toys):
    toy("Alpha", device_types=("cpu", "beta"))
    toy("Beta", device_types=("cpu",))
    return lambda text: find_device(text, get_registry().records)


@pytest.mark.parametrize(
    ("text", "target", "device_type", "device_id"),
    [
        ("auto", None, None, 0),
        ("auto:2", None, None, 2),
        ("cpu", None, "cpu", 0),
        ("cpu:1", None, "cpu", 1),
        ("alpha", "alpha", None, 0),
        (" alpha:10 ", "alpha", None, 10),
        ("beta", "beta", None, 0),
        ("project:alpha", "alpha", None, 0),
        ("project:alpha:3", "alpha", None, 3),
    ],
)
def test_a_device_is_auto_a_target_or_a_device_type(find, text, target, device_type, device_id):
    device = find(text)
    assert (device.target and device.target.name, device.device_type, device.device_id) == (
        target,
        device_type,
        device_id,
    )


@pytest.mark.parametrize(
    "text", ["alpha:-1", "alpha:", "alpha:1x", "alpha:1.5", "alpha:x", "cpu:one", "auto:x"]
)
def test_an_id_that_is_none_is_told(find, text):
    with pytest.raises(DeviceError) as error:
        find(text)
    assert str(error.value) == f"the id of device {text!r} must be a whole number, 0 or more"


@pytest.mark.parametrize("text", ["", "  ", None, 3])
def test_what_is_no_text_is_told(find, text):
    with pytest.raises(DeviceError) as error:
        find(text)
    assert str(error.value) == f"device must be a string such as 'auto' or 'rtlsim:0', not {text!r}"


@pytest.mark.parametrize("text", ["gpu", "gpu:1", "nowhere:alpha", "reference:alpha:1", "kernel"])
def test_an_unknown_device_is_a_value_error_that_lists_them(find, text):
    with pytest.raises(ValueError, match="there is no device") as error:
        find(text)
    assert (
        "\n  devices are auto, alpha, cpu (any of alpha, beta), beta (any of alpha); each may be followed by an id, "
        "as in 'cpu:0'" in str(error.value)
    )
