"""What is advised for a layer without RTL: a backend, unless it refuses the layer."""

from types import SimpleNamespace

import pytest
from onnx import helper

from brainsmith.rtl.cores.support import SUPPORTED, unsupported
from brainsmith.rtl.stitching import suitable


def backend(name, answer):
    """A record of an RTL backend of kernel Pool that gives an answer, or raises it."""

    def supports(node, part=""):
        if isinstance(answer, Exception):
            raise answer
        return answer

    described = SimpleNamespace() if answer is None else SimpleNamespace(supports=supports)
    return SimpleNamespace(qualified=name, backend_type="rtl", load=lambda: described)


TAKE = (
    "list it in the blueprint, hw_compiler: kernels: [{kernel: finn:Pool, backends: [rtl]}]; if it can be this layer, "
    "specialize takes it, and says why not otherwise"
)
WIDE = unsupported("its window is 9 wide")


@pytest.mark.parametrize(
    ("backends", "advice"),
    [
        ([backend("a:PoolRTL", WIDE)], "a:PoolRTL, which cannot be this layer: its window is 9 wide"),
        (
            [backend("a:PoolRTL", WIDE), backend("b:PoolRTL", False)],
            "a:PoolRTL, which cannot be this layer: its window is 9 wide; b:PoolRTL, which cannot be this layer: it does "
            "not say why",
        ),
        ([backend("a:PoolRTL", WIDE), backend("b:PoolRTL", SUPPORTED)], f"b:PoolRTL: {TAKE}"),
        ([backend("a:PoolRTL", None)], f"a:PoolRTL: {TAKE}"),
        ([backend("a:PoolRTL", ValueError("x"))], f"a:PoolRTL: {TAKE}"),
    ],
)
def test_a_backend_that_refuses_the_layer_is_not_advised(monkeypatch, backends, advice):
    domain = "finn.custom_op.fpgadataflow.hls"
    node = helper.make_node("Pool_hls", ["x"], ["y"], domain=domain, name="pool")
    kernel = SimpleNamespace(name="Pool", qualified="finn:Pool")
    monkeypatch.setattr(suitable, "_kernel_of", lambda registry, node: kernel)
    monkeypatch.setattr(suitable, "backends_of", lambda registry, kernel: backends)
    assert suitable._what_to_do(node) == f"kernel Pool has the RTL backend {advice}"
