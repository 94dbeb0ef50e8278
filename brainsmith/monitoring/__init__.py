"""What operators see of a process: figures for Prometheus, spans for OpenTelemetry, and which build a log line is of."""
