"""Nodes that have no array program: as themselves, by their Python model or by ONNX Runtime."""
