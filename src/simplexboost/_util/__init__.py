"""Holds helpers for all other packages: parameters, threads, memory limits, messages and array types."""

__version__ = "0.1.0.dev0"
