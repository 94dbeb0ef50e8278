"""FINN's RTL library, read from the installed package and altered by rule where open tools need it."""
