"""The commands, a module each with a function ``command``."""
