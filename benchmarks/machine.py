"""What the figures were measured on, in general words."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import simplexboost

PACKAGES = ("simplexboost", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "catboost")
OTHER_NAMES = {"xgboost-cpu": "xgboost"}  # the same library without what a GPU needs


def describe() -> dict[str, object]:
    """Processor, cores, memory, system, versions."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(memory_gb(), 1),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), **versions()},
    }


def processor() -> str:
    """The model name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def memory_gb() -> float:
    """All memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError, AttributeError):
        return float("nan")


def versions() -> dict[str, str]:
    """Of the libraries that are installed; ours tells its own where it is not installed but only found."""
    found = {"simplexboost": simplexboost.__version__}
    for package in (*PACKAGES, *OTHER_NAMES):
        try:
            found[OTHER_NAMES.get(package, package)] = version(package)
        except PackageNotFoundError:
            continue
    return found
