"""The steps of the tape: each is an op with an exact gradient, and says which ONNX node it is."""
