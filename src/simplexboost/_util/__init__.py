"""Helpers that all folders share: parameters, threads and memory, messages, types."""
