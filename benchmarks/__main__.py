"""The command: `python -m benchmarks`, or `make bench`."""

from typing import Annotated

import typer

from benchmarks.suite import Sizes, run
from capsedu import results


def main(
    batch: Annotated[int, typer.Option(help="images in a training step")] = Sizes.batch,
    repeats: Annotated[int, typer.Option(help="timed runs of each workload")] = Sizes.repeats,
) -> None:
    """Measure time and memory, print the ratios beside their bars and write the result file."""
    found = run(Sizes(batch=batch, repeats=repeats))
    for name, row in found["bars"].items():
        print(f"{name:48} {row['measured']:6.2f}   {row['bar']:8} {'met' if row['met'] else 'MISSED'}")
    print(f"written: {results.save('benchmarks', found).name}")


if __name__ == "__main__":
    typer.run(main)
