"""Holds helpers for all other packages: parameters, threads, memory limits, messages and array types."""
