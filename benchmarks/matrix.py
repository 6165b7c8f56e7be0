"""What is measured of matrix capsules, and the bars it is held to."""

from dataclasses import dataclass, replace
from typing import Any

from tqdm import tqdm

from benchmarks.measure import peak_megabytes, seconds
from benchmarks.suite import facts, judged
from benchmarks.workload import MatrixStep

BARS = {
    "matrixcaps-small step: times faster than the reference": (">=", 10.0),
    "matrixcaps-small step: peak memory / reference": ("<=", 0.2),
}


@dataclass(frozen=True)
class MatrixSizes:
    """How much work; the defaults are those of the results in the book."""

    batch: int = 32
    repeats: int = 5
    iterations: tuple[int, ...] = (1, 2, 3, 5)
    types: tuple[int, ...] = (8, 16, 32)  # of both convolutional capsule layers
    sides: tuple[int, ...] = (24, 32, 48)  # of the images

    def compared(self) -> dict[str, MatrixStep]:
        """The same step in every implementation."""
        ours = MatrixStep(self.batch)
        return {how: replace(ours, implementation=how) for how in ("reference", "sliced", "compiled")}

    def grown(self) -> dict[str, dict[int, MatrixStep]]:
        """The compiled step as one size grows."""
        ours = MatrixStep(self.batch)
        return {
            "iterations": {n: replace(ours, iterations=n) for n in self.iterations},
            "types": {n: replace(ours, model_options={"C": n, "D": n}) for n in self.types},
            "side": {n: replace(ours, side=n) for n in self.sides},
        }


def run_matrix(sizes: MatrixSizes) -> dict[str, Any]:
    """Measure everything; returns what `capsedu.results.save` takes."""
    compared = sizes.compared()
    grown = {f"{what} {n}": step for what, steps in sizes.grown().items() for n, step in steps.items()}
    calls = (sizes.repeats + 1) * (len(compared) + len(grown)) + len(compared)
    with tqdm(total=calls, unit="run") as bar:

        def progress(name: str) -> None:
            bar.set_postfix_str(name)
            bar.update()

        step = seconds(compared, sizes.repeats, progress)
        for name, workload in compared.items():
            progress(f"memory of {name}")
            step[name] |= {"megabytes": peak_megabytes(workload)}
        growth = seconds(grown, sizes.repeats, progress)
    reference, ours = step["reference"], step["compiled"]
    ratios = {
        "matrixcaps-small step: times faster than the reference": reference["seconds"] / ours["seconds"],
        "matrixcaps-small step: peak memory / reference": ours["megabytes"] / reference["megabytes"],
    }
    return {
        "machine": facts(sizes),
        "bars": judged(ratios, BARS),
        "step": step,
        "growth": {
            what: {str(n): growth[f"{what} {n}"]["seconds"] for n in steps}
            for what, steps in sizes.grown().items()
        },
    }
