"""Time and peak memory of a workload."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.workload import Workload

ROOT = Path(__file__).parents[1]
Progress = Callable[[str], None]  # told before every measurement what comes


def seconds(
    workloads: Mapping[str, Workload], repeats: int, progress: Progress
) -> dict[str, dict[str, float]]:
    """Minimum and median seconds of each workload.

    The workloads take turns, so that a busy moment of the machine hits all of them. The first turn warms
    caches, allocator and kernels and is not counted.
    """
    calls = {name: workload.build() for name, workload in workloads.items()}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            progress(name)
            started = time.perf_counter()
            call()
            if turn:
                taken[name].append(time.perf_counter() - started)
    return {name: {"seconds": min(times), "median_seconds": median(times)} for name, times in taken.items()}


def peak_megabytes(workload: Workload) -> float:
    """Peak memory of a workload, measured in a process of its own: see `benchmarks.peak`."""
    request = json.dumps({"kind": type(workload).__name__, "fields": asdict(workload)})
    return float(_python("-m", "benchmarks.peak", request))


def import_seconds(modules: list[str], repeats: int, progress: Progress) -> dict[str, float]:
    """Seconds that ``import module`` takes in a fresh interpreter: the minimum, the modules taking turns."""
    code = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    taken: dict[str, list[float]] = {module: [] for module in modules}
    for turn in range(repeats + 1):  # the first turn brings the files into the system's cache
        for module in modules:
            progress(f"import {module}")
            needed = float(_python("-c", code.format(module)))
            if turn:
                taken[module].append(needed)
    return {module: min(times) for module, times in taken.items()}


def _python(*arguments: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout
