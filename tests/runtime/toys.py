"""Targets that are small and real: they multiply, note what is called of them, and fail where they are told to."""

import threading

import numpy as np

from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.targets import Capabilities, PluginInfo, Prepared, Target, get_registry

SIGNATURE = ModelSignature((TensorSpec("x", (1, 2)),), (TensorSpec("y", (1, 2)),))


class Scale(Target):
    """Multiplies by a factor: of its configuration, or else of its class.

    A subclass is registered under the name of the class, in small letters.
    """

    factor = 2.0
    priority = 50
    device_types = ("toy",)
    requires = ()
    requires_plugins = ()
    available = True
    fails_in = ()
    concurrent = True
    refuses = ()

    def __init__(self, device_id=0, offset=0.0):
        super().__init__(device_id)
        self.offset = offset
        self.calls = []
        type(self).instances.append(self)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.instances = []

    @classmethod
    def metadata(cls):
        return PluginInfo(
            name=cls.__name__.lower(),
            display_name=f"The {cls.__name__}",
            vendor="Toys",
            version="1.0",
            priority=cls.priority,
            device_types=list(cls.device_types),
            requires=list(cls.requires),
            description="Multiplies.",
            requires_plugins=list(cls.requires_plugins),
            extra={"colour": "red"},
        )

    def note(self, call):
        self.calls.append(call)
        if call in self.fails_in:
            raise RuntimeError(f"{call} broke")

    def is_available(self):
        return self.available

    def unavailable_reason(self):
        return "its cable is not plugged in: plug it in"

    def supports(self, resource):
        return "it is too large" if resource in self.refuses else ""

    def get_capabilities(self):
        return Capabilities(concurrent=self.concurrent)

    def initialize(self):
        self.note("initialize")

    def prepare_resource(self, resource, config=None):
        self.note("prepare")
        factor = (config or {}).get("factor", self.factor)
        return Prepared(target=self, signature=SIGNATURE, payload=factor)

    def execute(self, prepared, inputs, **kwargs):
        if "execute" in self.fails_in:
            raise RuntimeError("execute broke")
        return {"y": inputs["x"] * np.float32(prepared.payload) + np.float32(self.offset)}

    def cleanup(self):
        self.note("cleanup")


def toy(name, **members):
    """Make a subclass of Scale and register it."""
    cls = type(name, (Scale,), {"__module__": __name__, "__qualname__": f"toys.{name}", **members})
    get_registry().register(cls)
    return cls


def in_threads(count, work):
    """Run `work(number)` in several threads at once; raise what one of them raised."""
    errors, start = [], threading.Barrier(count)

    def run(number):
        start.wait()
        try:
            work(number)
        except Exception as error:  # noqa: BLE001  (it is raised below)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
