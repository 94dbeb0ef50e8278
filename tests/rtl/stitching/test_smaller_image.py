"""The same layers for a smaller image: which size they take, what changes, and which layers have none."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from brainsmith.execution.execute import Executor
from brainsmith.rtl.stitching.smaller_image import smallest_image

RTL = "finn.custom_op.fpgadataflow.rtl"


class Layers:
    """Layers one after the other, as stitching gets them."""

    def __init__(self, *shape):
        self.nodes, self.values, self.weights = [], [helper.make_tensor_value_info("in", 1, shape)], {}

    def add(self, op_type, weights=None, shape=None, domain=RTL, **attributes):
        at, tail = len(self.nodes), self.values[-1].name
        inputs = [tail] if weights is None else [tail, f"weights{at}"]
        if weights is not None:
            self.weights[f"weights{at}"] = np.asarray(weights, np.float32)
        node = helper.make_node(
            op_type,
            inputs,
            [f"out{at}"],
            name=f"{op_type}_{at}",
            domain=domain,
            backend="fpgadataflow",
            **attributes,
        )
        shape = shape or [int(size) for size in getCustomOp(node).get_normal_output_shape(0)]
        self.nodes.append(node)
        self.values.append(helper.make_tensor_value_info(f"out{at}", TensorProto.FLOAT, shape))
        return self

    def window(self, size, kernel, stride, channels=2):
        given = (size - kernel) // stride + 1
        return self.add(
            "ConvolutionInputGenerator_rtl", ConvKernelDim=[kernel] * 2, IFMChannels=channels, IFMDim=[size] * 2,
            OFMDim=[given] * 2, SIMD=1, Stride=[stride] * 2, Dilation=[1, 1], inputDataType="UINT4",
            outputDataType="UINT4",
        )  # fmt: skip

    def padding(self, size, around, channels=2):
        return self.add(
            "FMPadding_rtl",
            ImgDim=[size] * 2,
            Padding=[around] * 4,
            NumChannels=channels,
            SIMD=1,
            inputDataType="UINT4",
        )

    def products(self, rows, columns, vectors, shape=None):
        weights = np.random.default_rng(0).integers(-8, 8, (rows, columns))
        return self.add(
            "MVAU_rtl", weights, shape, MW=rows, MH=columns, SIMD=1, PE=1, inputDataType="UINT4", weightDataType="INT4",
            outputDataType="INT16", accDataType="INT16", noActivation=1, numInputVectors=vectors,
        )  # fmt: skip

    def total(self, size, channels, kind="INT16"):
        return self.add(
            "GlobalAccPool_rtl",
            NumChannels=channels,
            PE=1,
            inputDataType=kind,
            numInputVectors=[1, size, size],
        )

    def model(self):
        graph = helper.make_graph(
            self.nodes, "layers", self.values[:1], self.values[-1:], value_info=self.values[1:-1]
        )
        model = ModelWrapper(helper.make_model(graph))
        for name, values in self.weights.items():
            model.set_initializer(name, values)
            model.set_tensor_datatype(name, DataType["INT4"])
        model.set_tensor_datatype("in", DataType["UINT4"])
        return model


def network(size):
    """Two convolutions with stride 2, the sum over what is left, and a dense layer."""
    half, quarter = (size + 1) // 2, ((size + 1) // 2 + 1) // 2
    layers = Layers(1, size, size, 2).padding(size, 1).window(size + 2, 3, 2).products(18, 2, [1, half, half])
    return layers.padding(half, 1).window(half + 2, 3, 2).total(quarter, 18, "UINT4")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "smallest"),
    [(224, 4), (32, 4), (30, 2), (7, 3), (225, 1)],  # what the last window of a row leaves out stays the same
)
def test_the_smallest_image_that_all_layers_take(size, smallest):
    model = network(size).model()
    before = model.model.SerializeToString()
    small, found = smallest_image(model)
    assert found == (smallest, smallest)
    assert model.model.SerializeToString() == before
    assert small.get_tensor_shape("in") == [1, smallest, smallest, 2]
    results = Executor(small).run({"in": np.ones((1, 1, smallest, smallest, 2), np.float32)})
    assert results["out5"].shape == (1, 1, 1, 1, 18)
    assert [node.name for node in small.graph.node] == [node.name for node in model.graph.node]
    for one, other in zip(small.graph.node, model.graph.node, strict=True):
        pairs = [
            (getCustomOp(node).get_instream_width(0), getCustomOp(node).get_outstream_width(0))
            for node in (one, other)
        ]
        assert pairs[0] == pairs[1], one.name  # a sum of fewer pixels is as wide
    changed = {"IFMDim", "OFMDim", "ImgDim", "numInputVectors", "sumDataType"}
    for one, other in zip(small.graph.node, model.graph.node, strict=True):
        kept = [{a.name: a for a in node.attribute if a.name not in changed} for node in (one, other)]
        assert kept[0] == kept[1]


def refusal(layers):
    with pytest.raises(BuildError) as caught:
        smallest_image(layers.model())
    return str(caught.value)


def test_layers_that_take_no_smaller_image_are_named():
    flat = Layers(1, 6, 6, 2).window(6, 3, 1).products(18, 4, [1, 4, 4]).products(64, 3, [1])
    assert refusal(flat) == (
        "no layer of the circuit takes a smaller image: MVAU_rtl_2 (MVAU_rtl) takes 1 x 4 x 4 x 4 as 1 x 64, one row of "
        "values, whose number would change"
    )
    turned = Layers(1, 4, 4, 2).add(
        "InnerShuffle_rtl", data_type="UINT4", in_shape=[1, 4, 4, 2], transpose_in_shape=[1, 4, 4, 2], SIMD=1
    )
    assert refusal(turned) == (
        "no layer of the circuit takes a smaller image: InnerShuffle_rtl_0 (InnerShuffle_rtl) rearranges values by a "
        "stated shape"
    )
    whole = Layers(1, 6, 6, 2).window(6, 6, 1)
    assert refusal(whole) == (
        "no layer of the circuit takes a smaller image: ConvolutionInputGenerator_rtl_0 (ConvolutionInputGenerator_rtl) "
        "takes windows of 6, and gets 5"
    )
    assert refusal(Layers(1, 16).products(16, 4, [1])) == (
        "there is no smaller image: the circuit does not take one image, but (1, 16)"
    )


def test_cuts_and_padding_follow_the_image_and_read_it_in_groups():
    def cut(size):  # every second row and column
        return Layers(1, size, size, 2).add(
            "CropRTL", domain="brainsmith.backends.rtl", in_shape=[1, size, size, 2], SIMD=1, inputDataType="UINT4",
            within_shape=[1, size // 2, 2, size // 2, 2, 2], starts=[0] * 6, sizes=[1, size // 2, 1, size // 2, 1, 2],
            out_shape=[1, size // 2, size // 2, 2],
        )  # fmt: skip

    small, size = smallest_image(cut(8).model())
    assert size == (2, 2)
    (node,), (wanted,) = small.graph.node, cut(2).model().graph.node
    assert {one.name: one for one in node.attribute} == {one.name: one for one in wanted.attribute}
    given = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    np.testing.assert_array_equal(
        Executor(small).run({"in": given})["out0"].reshape(-1), given.reshape(-1)[:2]
    )
