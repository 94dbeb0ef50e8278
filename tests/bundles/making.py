"""Bundles and ops for the tests, and what the one registry holds."""

import numpy as np

from brainsmith.autodiff.builder import CustomOpBuilder
from brainsmith.bundles.builder import BundleBuilder
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
