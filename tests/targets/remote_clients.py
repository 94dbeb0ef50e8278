"""What the tests of the target `remote` share: a model, a manager of a served target, and what is compared with what."""

from contextlib import contextmanager

from brainsmith.targets import ResourceManager
from tests.build import graphs

MODEL = graphs.quant_mlp()
X = graphs.samples(MODEL)
LOCAL = "numpy"


@contextmanager
def connected(url, device="remote", **arguments):
    """A manager whose active target is a served one."""
    config = {"device": device, "targets": {"remote": {"url": url, **arguments}}}
    with ResourceManager(config) as manager:
        yield manager


def local(model, x, name=LOCAL, **kwargs):
    with ResourceManager({"device": name}) as manager:
        return manager.execute(manager.prepare_resource(model), x, **kwargs)


def same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def works_on(manager):
    """Whether a manager executes here, after whatever happened there."""
    prepared = manager.prepare_resource(MODEL, device=LOCAL)
    same(manager.execute(prepared, X), local(MODEL, X))
