"""Quantised graphs rewritten to standard ONNX operators: one plan per operator, one file per family; knows no plugin."""
