"""What is measured, and the bars it is held to."""

import os
import platform
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import torch
from tqdm import tqdm

from benchmarks.measure import import_seconds, peak_megabytes, seconds
from benchmarks.workload import Routing, Step, Workload

# Each bar: what the measured ratio must be, at least or at most.
BARS = {
    "fp32 step: times faster than the reference": (">=", 2.0),
    "bf16 step: times faster than the reference": (">=", 3.0),
    "fp32 step: peak memory / reference": ("<=", 0.5),
    "bf16 step: peak memory / reference": ("<=", 0.5),
    "fp32 step: time of 3 iterations / 1": ("<=", 1.15),
    "bf16 step: time of 3 iterations / 1": ("<=", 1.15),
    "fp32 step: peak memory of 3 iterations / 1": ("<=", 1.25),
    "bf16 step: peak memory of 3 iterations / 1": ("<=", 1.25),
    "import capsedu / import torch": ("<=", 1.2),
}


@dataclass(frozen=True)
class Sizes:
    """How much work; the defaults are those of the results in the book."""

    batch: int = 128
    repeats: int = 10
    iterations: tuple[int, ...] = (1, 2, 3, 5, 10)  # of the routing alone
    children: int = 1152  # of the routing alone
    model_options: dict[str, Any] = field(default_factory=dict)  # other sizes than capsnet-mnist's

    def steps(self) -> dict[str, Step]:
        """The training steps by name."""
        ours = Step(self.batch, model_options=self.model_options)
        bf16 = replace(ours, precision="bf16")
        return {
            "reference fp32": replace(ours, implementation="reference"),
            "capsedu fp32": ours,
            "capsedu bf16": bf16,
            "capsedu fp32, 1 iteration": replace(ours, iterations=1),
            "capsedu bf16, 1 iteration": replace(bf16, iterations=1),
        }

    def routings(self) -> dict[str, Routing]:
        """The routings by name."""
        return {
            f"{implementation} {count}": Routing(self.batch, implementation, count, self.children)
            for implementation in ("plain", "sliced")
            for count in self.iterations
        }


def run(sizes: Sizes) -> dict[str, Any]:
    """Measure everything; returns what `capsedu.results.save` takes."""
    steps, routings, modules = sizes.steps(), sizes.routings(), ["torch", "capsedu"]
    calls = (sizes.repeats + 1) * (len(steps) + len(routings) + len(modules)) + len(steps) + len(routings)
    with tqdm(total=calls, unit="run") as bar:

        def progress(name: str) -> None:
            bar.set_postfix_str(name)
            bar.update()

        def measured(workloads: dict[str, Any]) -> dict[str, dict[str, float]]:
            times = seconds(workloads, sizes.repeats, progress)
            return {name: times[name] | _memory(name, workloads[name], progress) for name in workloads}

        step, routing = measured(steps), measured(routings)
        imports = import_seconds(modules, sizes.repeats, progress)
    return {
        "machine": facts(sizes),
        "bars": judged(ratios(step, imports), BARS),
        "step": step,
        "routing": {"iterations": list(sizes.iterations)} | _by_implementation(routing, sizes.iterations),
        "import": imports,
    }


def facts(sizes: Any) -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "batch": sizes.batch,
        "repeats": sizes.repeats,
    }


def ratios(step: dict[str, dict[str, float]], imports: dict[str, float]) -> dict[str, float]:
    """The ratio that each of `BARS` speaks of. Times are minimums: a disturbed run only takes longer."""
    found = {}
    for precision in ("fp32", "bf16"):
        reference, ours = step["reference fp32"], step[f"capsedu {precision}"]
        single = step[f"capsedu {precision}, 1 iteration"]
        found |= {
            f"{precision} step: times faster than the reference": reference["seconds"] / ours["seconds"],
            f"{precision} step: peak memory / reference": ours["megabytes"] / reference["megabytes"],
            f"{precision} step: time of 3 iterations / 1": ours["seconds"] / single["seconds"],
            f"{precision} step: peak memory of 3 iterations / 1": ours["megabytes"] / single["megabytes"],
        }
    return found | {"import capsedu / import torch": imports["capsedu"] / imports["torch"]}


def judged(measured: dict[str, float], bars: dict[str, tuple[str, float]]) -> dict[str, dict[str, Any]]:
    """Each ratio beside its bar."""
    return {
        name: {
            "measured": round(measured[name], 3),
            "bar": f"{sign} {bar:g}",
            "met": measured[name] >= bar if sign == ">=" else measured[name] <= bar,
        }
        for name, (sign, bar) in bars.items()
    }


def _memory(name: str, workload: Workload, progress: Any) -> dict[str, float]:
    progress(f"memory of {name}")
    return {"megabytes": peak_megabytes(workload)}


def _by_implementation(
    routing: dict[str, dict[str, float]], iterations: tuple[int, ...]
) -> dict[str, dict[str, list[float]]]:
    """Lists along ``iterations``, ready to plot."""
    return {
        implementation: {
            quantity: [routing[f"{implementation} {count}"][quantity] for count in iterations]
            for quantity in ("seconds", "median_seconds", "megabytes")
        }
        for implementation in ("plain", "sliced")
    }
