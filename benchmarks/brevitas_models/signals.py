"""Networks for sound and radio: convolutions over time, or over time and frequency."""

from __future__ import annotations

import itertools

import brevitas.nn as qnn
from torch import Tensor, nn

from brevitas_models.topology import convolution


def kws_conv2d(planes: int = 16) -> nn.Module:
    """DS-CNN of MLPerf Tiny on 49 x 10 MFCCs, 4 bit: depthwise and pointwise."""
    layers: list[nn.Module] = [
        qnn.QuantIdentity(bit_width=8),
        convolution(1, planes, 4, size=(10, 4), stride=(2, 2), padding=(5, 1)),  # type: ignore[arg-type]
    ]
    for _ in range(2):
        layers += [
            convolution(planes, planes, 4, padding=1, groups=planes),
            convolution(planes, planes, 4, size=1),
        ]
    layers += [nn.AvgPool2d((25, 5)), qnn.QuantReLU(bit_width=6), nn.Flatten()]
    return nn.Sequential(*layers, qnn.QuantLinear(planes, 12, bias=True, weight_bit_width=6))


def kws_small() -> nn.Module:
    """The same on 16 x 8 features, small enough to be kept with the tests."""
    return nn.Sequential(
        qnn.QuantIdentity(bit_width=8),
        convolution(1, 8, 4, size=(4, 3), stride=(2, 1), padding=(1, 1)),  # type: ignore[arg-type]
        convolution(8, 8, 4, padding=1, groups=8),
        convolution(8, 16, 4, size=1),
        nn.MaxPool2d(2),
        nn.Flatten(),
        qnn.QuantLinear(16 * 16, 12, bias=True, weight_bit_width=4),
    )


class Kws1d(nn.Module):
    """TC-ResNet-like convolutions over time of 40 features, 4 bit."""

    def __init__(self) -> None:
        super().__init__()
        widths = [40, 16, 24, 32]
        layers: list[nn.Module] = [qnn.QuantIdentity(bit_width=8)]
        for before, behind in itertools.pairwise(widths):
            layers += [
                qnn.QuantConv1d(before, behind, 9, stride=2, padding=4, bias=False, weight_bit_width=4),
                nn.BatchNorm1d(behind),
                qnn.QuantReLU(bit_width=4),
            ]
        self.features = nn.Sequential(*layers)
        self.last = qnn.QuantLinear(32 * 7, 12, bias=True, weight_bit_width=4)

    def forward(self, x: Tensor) -> Tensor:
        """Classify."""
        return self.last(self.features(x).flatten(1))


def separable1d() -> nn.Module:
    """QuartzNet's building blocks: depthwise over time, then pointwise, 8 bit."""
    layers: list[nn.Module] = [qnn.QuantIdentity(bit_width=8)]
    for before, behind in ((32, 32), (32, 48)):
        layers += [
            qnn.QuantConv1d(before, before, 11, padding=5, groups=before, bias=False, weight_bit_width=8),
            qnn.QuantIdentity(bit_width=8),
            qnn.QuantConv1d(before, behind, 1, bias=False, weight_bit_width=8),
            nn.BatchNorm1d(behind),
            qnn.QuantReLU(bit_width=8),
        ]
    return nn.Sequential(*layers, qnn.QuantConv1d(48, 29, 1, bias=True, weight_bit_width=8))


def vgg() -> nn.Module:
    """VGG-10 of radio modulation classification (RadioML): 1-D, 6 bit, thin."""
    layers: list[nn.Module] = [qnn.QuantIdentity(bit_width=8)]
    before = 2
    for _ in range(4):
        layers += [
            qnn.QuantConv1d(before, 16, 3, padding=1, bias=False, weight_bit_width=6),
            nn.BatchNorm1d(16),
            qnn.QuantReLU(bit_width=6),
            nn.MaxPool1d(2),
        ]
        before = 16
    layers += [
        nn.Flatten(),
        qnn.QuantLinear(16 * 8, 32, bias=False, weight_bit_width=6),
        nn.BatchNorm1d(32),
        qnn.QuantReLU(bit_width=6),
        qnn.QuantLinear(32, 24, bias=True, weight_bit_width=6),
    ]
    return nn.Sequential(*layers)
