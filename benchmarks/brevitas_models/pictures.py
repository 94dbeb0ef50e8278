"""Networks that give pictures: a U-Net, and ESPCN."""

from __future__ import annotations

import brevitas.nn as qnn
import torch
from brevitas.quant import Uint8ActPerTensorFloat
from torch import Tensor, nn

from brevitas_models.topology import convolution


class UNet(nn.Module):
    """A U-Net of two levels, 4 bit: MaxPool down, nearest Resize up, Concat of both."""

    def __init__(self) -> None:
        super().__init__()
        self.pixels = qnn.QuantIdentity(act_quant=Uint8ActPerTensorFloat, bit_width=8)
        self.down1, self.down2 = convolution(3, 8, 4, padding=1), convolution(8, 16, 4, padding=1)
        self.bottom = convolution(16, 16, 4, padding=1)
        self.up2, self.up1 = convolution(32, 8, 4, padding=1), convolution(16, 8, 4, padding=1)
        self.pool, self.resize = nn.MaxPool2d(2), nn.Upsample(scale_factor=2, mode="nearest")
        self.last = qnn.QuantConv2d(8, 2, 1, bias=True, weight_bit_width=8)

    def forward(self, x: Tensor) -> Tensor:
        """Segment."""
        first = self.down1(self.pixels(x))
        second = self.down2(self.pool(first))
        x = self.bottom(self.pool(second))
        x = self.up2(torch.cat([self.resize(x), second], 1))
        x = self.up1(torch.cat([self.resize(x), first], 1))
        return self.last(x)


class Espcn(nn.Module):
    """ESPCN as the qonnx package has it: convolutions, then nearest Resize and a convolution; pixels out."""

    def __init__(self) -> None:
        super().__init__()
        from brevitas_examples.super_resolution.models.common import (
            CommonIntWeightPerChannelQuant,
            ConstUint8ActQuant,
            QuantNearestNeighborConvolution,
        )

        layers: list[nn.Module] = [qnn.QuantIdentity(act_quant=Uint8ActPerTensorFloat, bit_width=8)]
        for before, behind, size in ((1, 16, 5), (16, 16, 3), (16, 8, 3)):
            layers += [
                qnn.QuantConv2d(
                    before,
                    behind,
                    size,
                    padding=size // 2,
                    bias=True,
                    weight_quant=CommonIntWeightPerChannelQuant,
                    weight_bit_width=4,
                ),
                nn.BatchNorm2d(behind),
                qnn.QuantReLU(bit_width=4),
            ]
        resize = QuantNearestNeighborConvolution(8, 1, upscale_factor=2, act_bit_width=4, bias=False)
        self.network = nn.Sequential(*layers, resize)
        self.out = qnn.QuantReLU(act_quant=ConstUint8ActQuant, bit_width=8)

    def forward(self, x: Tensor) -> Tensor:
        """Enlarge."""
        return self.out(self.network(x))
