"""Classifiers of pictures: CNV, MobileNetV1 and ResNets."""

from __future__ import annotations

import brevitas.nn as qnn
from brevitas.quant import Int8WeightPerChannelFloat, Int32Bias, Uint8ActPerTensorFloat
from torch import Tensor, nn

from brevitas_models.dense import bnn_pynq
from brevitas_models.topology import Pixels, convolution


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
