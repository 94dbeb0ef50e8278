"""A recorded computation as a QONNX model."""
