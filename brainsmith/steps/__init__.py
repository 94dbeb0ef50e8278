"""Build steps: functions `(model, cfg) -> model`, usable in FINN's own builder as they are."""
