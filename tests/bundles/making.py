"""Bundles and ops for the tests, and what the one registry holds."""

import numpy as np
import pytest

from brainsmith.autodiff.builder import CustomOpBuilder
from brainsmith.bundles.bundle_builder import BundleBuilder
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.plugin.core import get_registry


def builder(name="acme", version="1.0.0"):
    """Return a builder with every required field."""
    return (
        BundleBuilder()
        .name(name)
        .version(version)
        .description("Ops of Acme")
        .author("Ann")
        .min_brainsmith_version("0.1.0")
    )


def make_op(name, factor=2.0):
    """Return an op that multiplies by a number."""
    return CustomOpBuilder(name, 1).forward(lambda inputs: inputs[0] * np.float32(factor)).build()


def make_bundle(name="acme", *ops, version="1.0.0", needs=()):
    """Return a bundle that brings some ops, by name."""
    building = builder(name, version)
    for need in needs:
        building.depends_on(*need.split(" ", 1))
    made = [make_op(op) for op in ops]
    return building.build().set_custom_operations_fn(lambda: made)


def state():
    """Return all records and objects of the one registry, to compare."""
    registry = get_registry()
    records = registry.records()
    objects = {key: id(obj) for key, obj in registry._objects.items()}
    registered = {key: dict(providers) for key, providers in registry._registered.items()}
    return [info.to_plain() for info in records], objects, registered


def a_step(model, cfg):
    """Change nothing."""
    return model


def another_step(model, cfg):
    """Change nothing either."""
    return model


FILE = """\
import numpy as np

from brainsmith import ops
from brainsmith.plugins import BundleBuilder

calls = []
bundle = (
    BundleBuilder()
    .name("{name}")
    .version("{version}")
    .description("Ops of {name}")
    .author("Ann")
    .min_brainsmith_version("{least}")
    {needs}
    .build()
)
bundle.set_initialize_fn(lambda registry: calls.append("initialise"))
bundle.set_cleanup_fn(lambda registry: calls.append("clean-up"))
made = ops.CustomOpBuilder("{name}_op", 1).forward(lambda inputs: inputs[0] * np.float32({factor})).build()
bundle.set_custom_operations_fn(lambda: [made])
{more}
"""


def source(name="acme", version="1.0.0", least="0.1.0", needs=(), factor=2, more=""):
    """Return the text of a Python file with a bundle of one op."""
    calls = "".join(f".depends_on{need!r}" for need in needs)
    return FILE.format(name=name, version=version, least=least, needs=calls, factor=factor, more=more)


def refused(error, call, *arguments):
    """Call; it must fail, and leave the one registry as it was. Returns the message."""
    before, listed = state(), BundleRegistry().list_plugins()
    with pytest.raises(error) as caught:
        call(*arguments)
    assert state() == before
    assert BundleRegistry().list_plugins() == listed
    return str(caught.value)


def boom(*_):
    raise ValueError("no licence")


def recorded(bundle, calls):
    """Have a bundle note when its functions run."""
    bundle.set_initialize_fn(lambda registry: calls.append(("initialise", registry)))
    bundle.set_cleanup_fn(lambda registry: calls.append(("clean-up", registry)))
    return bundle


def ran(calls):
    """Return which functions of a recorded bundle ran, in order."""
    return [what for what, _ in calls]


def line_of(function):
    return f"({__file__}:{function.__code__.co_firstlineno + 1})"
