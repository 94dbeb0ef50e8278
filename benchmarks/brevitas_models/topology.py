"""Topology: a network, and what comes in; and the layers that several families share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import brevitas.nn as qnn
from torch import Tensor, nn


@dataclass(frozen=True)
class Topology:
    """A network, and what comes in.

    Attributes:
        make: The network.
        shape: Of one sample, with a batch of 1.
        values: `picture` (pixels, 0 to 255), `signs` (-1 and 1) or `features` (floats).
        dynamo: Whether torch's default exporter manages it; else the TorchScript one is used.
        full: Whether it is of the published size, and takes long.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    values: str = "features"
    dynamo: bool = True
    full: bool = False


class Pixels(nn.Module):
    """A network for values from 0 to 1, with pixels in front of it."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        """Scale, and compute."""
        return self.network(x / 255.0)


def convolution(
    before: int, behind: int, bits: int, *, size: int = 3, relu: bool = True, **window: Any
) -> nn.Sequential:
    """Return a convolution with normalisation and ReLU."""
    layers = [
        qnn.QuantConv2d(before, behind, size, bias=False, weight_bit_width=bits, **window),
        nn.BatchNorm2d(behind),
    ]
    return nn.Sequential(*layers, *([qnn.QuantReLU(bit_width=bits)] if relu else []))
