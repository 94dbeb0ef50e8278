"""Multilayer perceptrons: jet tagging, cyber security, keyword spotting, an autoencoder, TFC, SFC and LFC."""

from __future__ import annotations

import itertools

import brevitas.nn as qnn
import torch
from brevitas.quant import SignedBinaryActPerTensorConst
from torch import Tensor, nn

from brevitas_models.topology import Pixels


def dense(sizes: list[int], bits: int, *, bias: bool = True, norm: bool = True) -> nn.Sequential:
    """Return a multilayer perceptron with an 8-bit input."""
    layers: list[nn.Module] = [qnn.QuantIdentity(bit_width=8, return_quant_tensor=True)]
    for at, (before, behind) in enumerate(itertools.pairwise(sizes)):
        layers.append(qnn.QuantLinear(before, behind, bias=bias, weight_bit_width=bits))
        if at < len(sizes) - 2:
            layers += [nn.BatchNorm1d(behind)] if norm else []
            layers.append(qnn.QuantReLU(bit_width=bits))
    return nn.Sequential(*layers)


def jet_mlp() -> nn.Module:
    """hls4ml's jet tagging, 6 bit."""
    return dense([16, 64, 32, 32, 5], 6)


def kws_mlp() -> nn.Module:
    """FINN's keyword spotting, 3 bit."""
    return dense([490, 256, 256, 256, 12], 3, bias=False)


def autoencoder() -> nn.Module:
    """MLPerf Tiny's anomaly detection, 8 bit, narrow."""
    return dense([160, 64, 64, 8, 64, 64, 160], 8)


class CyberSecurity(nn.Module):
    """FINN's tutorial network on UNSW-NB15, as it exports it: signs in, a sign out."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [593, 64, 64, 64]
        layers: list[nn.Module] = []
        for before, behind in itertools.pairwise(sizes):
            layers.append(qnn.QuantLinear(before, behind, bias=True, weight_bit_width=2))
            layers += [nn.BatchNorm1d(behind), nn.Dropout(0.5), qnn.QuantReLU(bit_width=2)]
        layers.append(qnn.QuantLinear(64, 1, bias=True, weight_bit_width=2))
        self.network = nn.Sequential(*layers)
        self.sign = qnn.QuantIdentity(SignedBinaryActPerTensorConst)

    def forward(self, x: Tensor) -> Tensor:
        """Make bits of signs, and compute."""
        return self.sign(self.network((x + torch.tensor([1.0])) / 2.0))


def bnn_pynq(name: str) -> nn.Module:
    """Return one of the networks of BNN-PYNQ."""
    from brevitas_examples.bnn_pynq.models import model_with_cfg

    return Pixels(model_with_cfg(name, pretrained=False)[0])
