"""Run models in Python over many samples at once, and match the inputs and outputs of models that steps have changed."""
