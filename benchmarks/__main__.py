"""The command: `python -m benchmarks`, or `make bench`."""

from typing import Annotated, Any

import typer

from benchmarks.matrix import MatrixSizes, run_matrix
from benchmarks.suite import Sizes, run
from capsedu import results

app = typer.Typer(no_args_is_help=False)


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    batch: Annotated[int, typer.Option(help="images in a training step")] = Sizes.batch,
    repeats: Annotated[int, typer.Option(help="timed runs of each workload")] = Sizes.repeats,
) -> None:
    """Measure dynamic routing's time and memory, print the ratios beside their bars, write a file."""
    if context.invoked_subcommand is None:
        report("benchmarks", run(Sizes(batch=batch, repeats=repeats)))


@app.command()
def matrix(
    batch: Annotated[int, typer.Option(help="images in a training step")] = MatrixSizes.batch,
    repeats: Annotated[int, typer.Option(help="timed runs of each workload")] = MatrixSizes.repeats,
) -> None:
    """The same for matrix capsules and EM routing."""
    report("benchmarks_matrix", run_matrix(MatrixSizes(batch=batch, repeats=repeats)))


def report(name: str, found: dict[str, Any]) -> None:
    """Print the bars and write the result file."""
    for bar, row in found["bars"].items():
        print(f"{bar:56} {row['measured']:6.2f}   {row['bar']:8} {'met' if row['met'] else 'MISSED'}")
    print(f"written: {results.save(name, found).name}")


if __name__ == "__main__":
    app()
