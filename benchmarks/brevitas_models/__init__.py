"""Quantised networks in Brevitas as users write them, small: the topologies that open projects train and publish.

Those of `brevitas_examples` are taken from there, with fewer channels. All weights are random.
"""

from __future__ import annotations

from brevitas_models.attention import Attention
from brevitas_models.classifiers import ResNet8, ThinBlock, mobilenet, resnet, thin_cnv
from brevitas_models.dense import CyberSecurity, autoencoder, bnn_pynq, jet_mlp, kws_mlp
from brevitas_models.pictures import Espcn, UNet
from brevitas_models.signals import Kws1d, kws_conv2d, kws_small, separable1d, vgg
from brevitas_models.topology import Pixels, Topology

__all__ = ["TOPOLOGIES", "Topology"]

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
    "resnet20_full": Topology(
        lambda: resnet(16, [3, 3, 3]), (1, 3, 32, 32), "picture", dynamo=False, full=True
    ),
    "resnet18_full": Topology(
        lambda: resnet(64, [2, 2, 2, 2]), (1, 3, 32, 32), "picture", dynamo=False, full=True
    ),
    "mobilenet_full": Topology(lambda: mobilenet(1, 224), (1, 3, 224, 224), "picture", full=True),
}
