"""Quantised networks in Brevitas as users write them, small: the topologies that open projects train and publish.

Those of `brevitas_examples` are taken from there, with fewer channels. All weights are random.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import brevitas.nn as qnn
import torch
from brevitas.quant import (
    Int8ActPerTensorFloat,
    Int8WeightPerChannelFloat,
    Int32Bias,
    SignedBinaryActPerTensorConst,
    Uint8ActPerTensorFloat,
)
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


def thin_cnv(name: str) -> nn.Module:
    """Return CNV with a quarter of the channels."""
    from brevitas_examples.bnn_pynq.models import CNV

    kept = CNV.CNV_OUT_CH_POOL, CNV.INTERMEDIATE_FC_FEATURES, CNV.LAST_FC_IN_FEATURES
    CNV.CNV_OUT_CH_POOL = [(channels // 4, pooled) for channels, pooled in kept[0]]
    CNV.INTERMEDIATE_FC_FEATURES = [(64, 128), (128, 128)]
    CNV.LAST_FC_IN_FEATURES = 128
    try:
        return bnn_pynq(name)
    finally:
        CNV.CNV_OUT_CH_POOL, CNV.INTERMEDIATE_FC_FEATURES, CNV.LAST_FC_IN_FEATURES = kept


def mobilenet(width: int, image: int) -> nn.Module:
    """Return MobileNetV1 4 bit of `brevitas_examples`."""
    from brevitas_examples.imagenet_classification.models.mobilenetv1 import MobileNet

    channels = [[32], [64], [128, 128], [256, 256], [512, 512, 512, 512, 512, 512], [1024, 1024]]
    return Pixels(
        MobileNet(
            channels=[[each // width for each in stage] for stage in channels],
            first_stage_stride=False,
            act_bit_width=4,
            weight_bit_width=4,
            avg_pool_kernel_size=image // 32,
            num_classes=1000 if width == 1 else 10,
        )
    )


def resnet(planes: int, blocks: list[int]) -> nn.Module:
    """Return the ResNet-18 of `brevitas_examples`, 4 bit, with other numbers of channels and blocks."""
    from brevitas_examples.bnn_pynq.models.resnet import QuantBasicBlock, QuantResNet

    network = QuantResNet(QuantBasicBlock, [2, 2, 2, 2], act_bit_width=4, weight_bit_width=4)
    if planes == 64:
        return Pixels(network)
    network.in_planes = planes
    network.conv1 = qnn.QuantConv2d(
        3, planes, 3, padding=1, bias=False, weight_quant=Int8WeightPerChannelFloat
    )
    network.bn1 = nn.BatchNorm2d(planes)
    shared = network.relu
    for at, count in enumerate(blocks):
        stage, shared = network._make_layer(
            QuantBasicBlock, planes << at, count, 2 if at else 1, shared, 4, 4, Int8WeightPerChannelFloat
        )
        setattr(network, f"layer{at + 1}", stage)
    for at in range(len(blocks), 4):
        setattr(network, f"layer{at + 1}", nn.Identity())
    last = planes << (len(blocks) - 1)
    network.final_pool = qnn.TruncAvgPool2d(
        kernel_size=32 >> (len(blocks) - 1), float_to_int_impl_type="FLOOR"
    )
    network.linear = qnn.QuantLinear(last, 10, bias=True, bias_quant=Int32Bias, weight_bit_width=8)
    return Pixels(network)


def convolution(
    before: int, behind: int, bits: int, *, size: int = 3, relu: bool = True, **window: Any
) -> nn.Sequential:
    """Return a convolution with normalisation and ReLU."""
    layers = [
        qnn.QuantConv2d(before, behind, size, bias=False, weight_bit_width=bits, **window),
        nn.BatchNorm2d(behind),
    ]
    return nn.Sequential(*layers, *([qnn.QuantReLU(bit_width=bits)] if relu else []))


class ResidualBlock(nn.Module):
    """A block as one writes it without FINN in mind: a scale of its own on each side, ReLU behind the sum."""

    def __init__(self, before: int, behind: int, stride: int, bits: int) -> None:
        super().__init__()
        self.first = convolution(before, behind, bits, stride=stride, padding=1)
        self.second = convolution(behind, behind, bits, padding=1, relu=False)
        self.second.append(qnn.QuantIdentity(bit_width=bits + 1))
        self.short = nn.Sequential()
        if stride > 1 or before != behind:
            self.short = convolution(before, behind, bits, size=1, stride=stride, relu=False)
            self.short.append(qnn.QuantIdentity(bit_width=bits + 1))
        self.last = qnn.QuantReLU(bit_width=bits)

    def forward(self, x: Tensor) -> Tensor:
        """Add both ways."""
        return self.last(self.second(self.first(x)) + self.short(x))


class ResNet8(nn.Module):
    """MLPerf Tiny's image classification, 4 bit, thin."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.pixels = qnn.QuantIdentity(act_quant=Uint8ActPerTensorFloat, bit_width=8)
        self.stem = convolution(3, planes, 4, padding=1)
        self.blocks = nn.Sequential(
            ResidualBlock(planes, planes, 1, 4),
            ResidualBlock(planes, 2 * planes, 2, 4),
            ResidualBlock(2 * planes, 4 * planes, 2, 4),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.quantiser = qnn.QuantReLU(bit_width=8)
        self.last = qnn.QuantLinear(4 * planes, 10, bias=True, weight_bit_width=8)

    def forward(self, x: Tensor) -> Tensor:
        """Classify."""
        x = self.blocks(self.stem(self.pixels(x)))
        return self.last(self.quantiser(self.pool(x)).flatten(1))


class ThinBlock(nn.Module):
    """One residual block between a stem and a head, small enough to be kept with the tests."""

    def __init__(self) -> None:
        super().__init__()
        self.pixels = qnn.QuantIdentity(act_quant=Uint8ActPerTensorFloat, bit_width=8)
        self.stem = convolution(3, 8, 4, padding=1, stride=2)
        self.block = ResidualBlock(8, 8, 1, 4)
        self.down = ResidualBlock(8, 16, 2, 4)
        self.last = qnn.QuantLinear(16, 10, bias=True, weight_bit_width=4)
        self.quantiser = qnn.QuantReLU(bit_width=6)

    def forward(self, x: Tensor) -> Tensor:
        """Classify."""
        x = self.down(self.block(self.stem(self.pixels(x))))
        return self.last(self.quantiser(x.mean((2, 3))))


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


class Attention(nn.Module):
    """An encoder's block: attention of two heads, normalisation, and two dense layers."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.inputs = qnn.QuantIdentity(bit_width=8)
        self.attention = qnn.QuantMultiheadAttention(
            width, 2, batch_first=True, packed_in_proj=False, out_proj_output_quant=Int8ActPerTensorFloat
        )
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.sum1, self.sum2 = qnn.QuantIdentity(bit_width=8), qnn.QuantIdentity(bit_width=8)
        self.up = qnn.QuantLinear(width, 2 * width, bias=True, weight_bit_width=8)
        self.between = qnn.QuantIdentity(bit_width=8)
        self.down = qnn.QuantLinear(2 * width, width, bias=True, weight_bit_width=8)
        self.out = qnn.QuantIdentity(bit_width=8)

    def forward(self, x: Tensor) -> Tensor:
        """Encode."""
        x = self.inputs(x)
        x = self.sum1(self.norm1(x + self.attention(x, x, x)[0]))
        return self.norm2(x + self.out(self.down(self.between(nn.functional.gelu(self.up(x))))))


TOPOLOGIES: dict[str, Topology] = {
    "jet_mlp": Topology(jet_mlp, (1, 16)),
    "cyber_mlp": Topology(CyberSecurity, (1, 593), "signs"),
    "kws_mlp": Topology(kws_mlp, (1, 490)),
    "autoencoder": Topology(autoencoder, (1, 160)),
    "tfc_1w1a": Topology(lambda: bnn_pynq("TFC_1W1A"), (1, 1, 28, 28), "picture"),
    "tfc_2w2a": Topology(lambda: bnn_pynq("TFC_2W2A"), (1, 1, 28, 28), "picture"),
    "sfc_1w2a": Topology(lambda: bnn_pynq("SFC_1W2A"), (1, 1, 28, 28), "picture"),
    "cnv_1w1a": Topology(lambda: thin_cnv("CNV_1W1A"), (1, 3, 32, 32), "picture"),
    "cnv_2w2a": Topology(lambda: thin_cnv("CNV_2W2A"), (1, 3, 32, 32), "picture"),
    "kws_small": Topology(kws_small, (1, 1, 16, 8)),
    "kws_conv2d": Topology(kws_conv2d, (1, 1, 49, 10)),
    "kws_conv1d": Topology(Kws1d, (1, 40, 49)),
    "separable1d": Topology(separable1d, (1, 32, 24)),
    "vgg_radio": Topology(vgg, (1, 2, 128)),
    "resnet_block": Topology(ThinBlock, (1, 3, 16, 16), "picture"),
    "resnet8": Topology(lambda: Pixels(ResNet8(8)), (1, 3, 32, 32), "picture"),
    "resnet_shared": Topology(lambda: resnet(8, [1, 1, 1]), (1, 3, 32, 32), "picture", dynamo=False),
    "mobilenet": Topology(lambda: mobilenet(8, 32), (1, 3, 32, 32), "picture"),
    "unet": Topology(lambda: Pixels(UNet()), (1, 3, 16, 16), "picture"),
    "espcn": Topology(lambda: Pixels(Espcn()), (1, 1, 16, 16), "picture", dynamo=False),
    "attention": Topology(Attention, (1, 8, 16)),
    "lfc_1w1a": Topology(lambda: bnn_pynq("LFC_1W1A"), (1, 1, 28, 28), "picture", full=True),
    "cnv_1w1a_full": Topology(lambda: bnn_pynq("CNV_1W1A"), (1, 3, 32, 32), "picture", full=True),
    "cnv_2w2a_full": Topology(lambda: bnn_pynq("CNV_2W2A"), (1, 3, 32, 32), "picture", full=True),
    "resnet18_full": Topology(
        lambda: resnet(64, [2, 2, 2, 2]), (1, 3, 32, 32), "picture", dynamo=False, full=True
    ),
    "mobilenet_full": Topology(lambda: mobilenet(1, 224), (1, 3, 224, 224), "picture", full=True),
}
