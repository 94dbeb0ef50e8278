"""Ops in QONNX graphs: as nodes, in a model's metadata, and fused."""
