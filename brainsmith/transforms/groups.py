"""Named groups of transforms that a blueprint can list as if each were one.

The members run in this order. `cleanup_transforms` are for the graph as it comes, `quantization` and
`folding` for the quantised graph, before qonnx_to_finn; `optimization_transforms` for hardware layers, after
hardware_inference. Each can run twice, and none changes what the network computes but for the rounding of
scales that are multiplied together: a value on the border of two levels can come to lie on the other one.
"""

from __future__ import annotations

GROUPS = {
    # Names, shapes and datatypes are known, and nothing is left that computes nothing.
    "cleanup_transforms": [
        "qonnx:RemoveStaticGraphInputs",
        "RemoveUnusedTensors",
        "qonnx:InferShapes",
        "FoldConstants",
        "RemoveIdentityOps",
        "SortGraph",
        "qonnx:GiveUniqueNodeNames",
        "GiveReadableTensorNames",
        "InferDataTypes",
    ],
    # One dialect of quantisation: Quant nodes, on operators that FINN reads, with weights as integers.
    "quantization": [
        "qonnx:QCDQToQuant",
        "qonnx:ExtractBiasFromConv",
        "finn:InferMissingGemmBias",
        "qonnx:GemmToMatMul",
        "qonnx:FoldTransposeIntoQuantInit",
        "InferDataTypes",
        "finn:FoldQuantWeights",
        "InferDataTypes",
        "qonnx:GiveUniqueNodeNames",
    ],
    # Constant arithmetic is done here instead of on the device.
    "folding": [
        "FoldConstants",
        "qonnx:BatchNormToAffine",
        "ConvertDivToMul",
        "MergeOpChains",
        "RemoveIdentityOps",
        "qonnx:InferShapes",
        "InferDataTypes",
        "qonnx:GiveUniqueNodeNames",
    ],
    # Weights, sums and thresholds take as many bits as their values need.
    "optimization_transforms": [
        "finn:MinimizeWeightBitWidth",
        "finn:MinimizeAccumulatorWidth",
        "InferDataTypes",
        "finn:RoundAndClipThresholds",
        "InferDataTypes",
        "finn:MinimizeWeightBitWidth",
        "InferDataTypes",
        "qonnx:GiveUniqueNodeNames",
        "GiveReadableTensorNames",
    ],
}
