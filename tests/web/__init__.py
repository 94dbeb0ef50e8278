"""Tests of brainsmith.web."""
