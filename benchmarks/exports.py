"""Export networks of Brevitas as its users do, with torch's outputs on inputs that no build sees.

    python benchmarks/exports.py FOLDER                  # all but those of full size
    python benchmarks/exports.py FOLDER unet cnv_2w2a_full
    python benchmarks/exports.py FOLDER --torchscript    # the older of torch's exporters for all
    python benchmarks/exports.py tests/exports --kept    # the three that are kept with the tests

For each it writes NAME.onnx (with NAME.onnx.data beside it, where the exporter keeps weights apart), NAME_golden.npy, of
which a user has some, and NAME_x.npy and NAME_y.npy: other inputs, and torch's outputs. It needs torch and brevitas,
which may be in an environment of their own:

    pip install torch==2.13.0 onnxscript==0.7.2 "setuptools<82" dependencies==2.0.1 unfoldNd onnxoptimizer
    pip install --no-deps brevitas==0.13.0      # with its dependencies, pip finds no torch that it goes with
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

# Brevitas 0.13 calls what torch 2.13 no longer traces; the names of axes have no meaning here.
torch.Tensor.rename = torch.Tensor.rename_ = lambda self, *names, **named: self

from brevitas.export import export_qonnx  # noqa: E402
from brevitas_models import TOPOLOGIES, Topology  # noqa: E402

torch.set_num_threads(1)  # threads that wait for each other take most of the time on a loaded machine

CALIBRATED, GOLDEN, UNSEEN = 256, 8, 32
KEPT = {"jet_mlp": False, "kws_small": True, "resnet_block": True}
"""Those that are kept with the tests, and whether torch's default exporter writes them."""


def main() -> int:
    """Export what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="all but those of full size, if none is named")
    parser.add_argument("--torchscript", action="store_true")
    parser.add_argument(
        "--kept", action="store_true", help="without golden inputs and the nodes' stack traces"
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.kept:
        for name, dynamo in KEPT.items():
            exported(name, TOPOLOGIES[name], options.folder, dynamo)
            _make_small(options.folder, name)
        return 0
    names = options.names or [name for name, topology in TOPOLOGIES.items() if not topology.full]
    for name in names:
        exported(name, TOPOLOGIES[name], options.folder, not options.torchscript)
        print(f"{name}: {sum(each.stat().st_size for each in options.folder.glob(f'{name}.onnx*')):,} bytes")
    return 0


def exported(name: str, topology: Topology, folder: Path, dynamo: bool = True) -> None:
    """Export one network, with its inputs and outputs."""
    torch.manual_seed(sum(name.encode()))
    network = calibrated(topology)
    samples = inputs(topology, GOLDEN + UNSEEN, seed=1)
    with torch.no_grad():
        outputs = torch.stack([_plain(network(sample)) for sample in samples])
    np.save(folder / f"{name}_golden.npy", _small(samples[:GOLDEN, 0].numpy(), topology))
    np.save(folder / f"{name}_x.npy", _small(samples[GOLDEN:, 0].numpy(), topology))
    np.save(folder / f"{name}_y.npy", outputs[GOLDEN:, 0].numpy())
    export_qonnx(
        network, samples[0], export_path=str(folder / f"{name}.onnx"), dynamo=dynamo and topology.dynamo
    )


def _make_small(folder: Path, name: str) -> None:
    """Remove what takes room and has no meaning: half of a file is where in Python each node came from."""
    model = onnx.load(folder / f"{name}.onnx")
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    onnx.save(model, folder / f"{name}.onnx")
    for left in (folder / f"{name}.onnx.data", folder / f"{name}_golden.npy"):
        left.unlink(missing_ok=True)


def calibrated(topology: Topology) -> nn.Module:
    """Return a network whose thresholds are not trivial: gammas of both signs, statistics of structured inputs."""
    network = topology.make()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            module.momentum = None
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0.0, 0.3)
            module.weight.data[torch.rand_like(module.weight) < 0.25] *= -1
    network.train()
    samples = inputs(topology, 32 if topology.full else CALIBRATED, seed=0).flatten(0, 1)
    with torch.no_grad():
        for at in range(0, len(samples), 16):
            network(samples[at : at + 16])
    return network.eval()


def inputs(topology: Topology, count: int, seed: int) -> torch.Tensor:
    """Return (count, *shape): smooth pictures, or mixtures of a few factors, with noise."""
    make = torch.Generator().manual_seed(seed)
    shape = topology.shape[1:]
    if topology.values == "picture":
        coarse = torch.rand((count, shape[0], 4, 4), generator=make)
        smooth = nn.functional.interpolate(coarse, shape[1:], mode="bilinear")
        noisy = smooth + 0.1 * torch.randn(smooth.shape, generator=make)
        return (noisy * 255).round().clamp(0, 255).unsqueeze(1)
    size = int(np.prod(shape))
    factors = torch.randn((6, size), generator=torch.Generator().manual_seed(7))
    mixed = torch.randn((count, 6), generator=make) @ factors / 2 + 0.3 * torch.randn(
        (count, size), generator=make
    )
    found = torch.where(mixed < 0, -1.0, 1.0) if topology.values == "signs" else mixed
    return found.reshape(count, *topology.shape)


def _plain(value: object) -> torch.Tensor:
    """Return the tensor in what a quantised layer gives."""
    found = getattr(value, "value", value)
    assert isinstance(found, torch.Tensor)
    return found


def _small(samples: np.ndarray, topology: Topology) -> np.ndarray:
    """Return pixels in one byte each."""
    return samples.astype(np.uint8) if topology.values == "picture" else samples


if __name__ == "__main__":
    sys.exit(main())
