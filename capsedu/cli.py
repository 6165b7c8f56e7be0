"""The ``capsedu`` command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from capsedu.errors import CapseduError, unknown_name


class OneSentenceErrors(typer.core.TyperGroup):
    """Tell what the user can mend in one sentence, with exit code 2, and no traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CapseduError as error:
            sentence = str(error)
        except KeyboardInterrupt:
            sentence = "interrupted; the same command goes on from the last checkpoint"
        except OSError as error:
            sentence = f"cannot use {error.filename or 'a file'}: {error.strerror or error}"
        typer.echo(f"capsedu: {sentence}", err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=OneSentenceErrors,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Capsule networks: check this machine, fetch data, train, evaluate.",
)


@app.command()
def doctor() -> None:
    """Look whether this machine is ready for the course."""
    from capsedu.doctor import report

    findings = report()
    for finding in findings:
        typer.echo(f"{'ok ' if finding.good else 'BAD'}  {finding.what:12} {finding.says}")
    bad = [finding.what for finding in findings if not finding.good]
    if bad:
        raise CapseduError(f"not ready: {', '.join(bad)}")


@app.command()
def data(name: Annotated[str, typer.Argument(help="Which data set to fetch.")] = "mnist") -> None:
    """Download a data set to the user's cache, checked, or render it, and say where it is."""
    from capsedu.data.mnist import fetch_mnist
    from capsedu.data.smallnorb import fetch_smallnorb
    from capsedu.data.toynorb import fetch_toynorb

    fetchers = {"mnist": fetch_mnist, "smallnorb": fetch_smallnorb, "toynorb": fetch_toynorb}
    if name not in fetchers:
        raise unknown_name("data set to fetch", name, fetchers)
    typer.echo(f"{name} is in {fetchers[name]()}")


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="What to train; a wrong name lists the nearest.")],
    profile: Annotated[str, typer.Option(help="quick (seconds), laptop (minutes) or full.")] = "full",
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder; default runs/RECIPE-PROFILE-SEED.")] = None,
) -> None:
    """Train a recipe, going on where an earlier run of the same command stopped."""
    from capsedu.training import recipe as find_recipe
    from capsedu.training.run import run_recipe

    wanted = find_recipe(recipe, profile, seed=seed)
    weights = run_recipe(wanted, out or Path("runs") / f"{recipe}-{profile}-{seed}")
    if weights:
        typer.echo(f"weights and card are in {weights.parent}")


@app.command()
def evaluate(
    weights: Annotated[str, typer.Argument(help="A shipped network's name, or a weights file of a run.")],
    split: Annotated[str, typer.Option(help="validation, or test: once, at the end.")] = "validation",
) -> None:
    """Measure the error of trained weights and, for a run of yours, write it on their card."""
    from capsedu.training.run import evaluate_weights

    card = evaluate_weights(weights, split)
    found = card["errors"][split]
    typer.echo(
        f"{weights}: {found['error_percent']:.2f} % wrong on {split} "
        f"({found['wrong']} of {found['items']}; {found['source']})"
    )


@app.command()
def reproduce(
    table: Annotated[str, typer.Argument(help="smallnorb (the ablation table) or viewpoint.")],
    data: Annotated[str, typer.Option(help="smallnorb or toynorb.")] = "smallnorb",
    epochs: Annotated[int, typer.Option(help="Budget of every row.")] = 10,
    seeds: Annotated[int, typer.Option(help="Runs of every row of the viewpoint table.")] = 3,
    out: Annotated[Path | None, typer.Option(help="Folder; default runs/TABLE-DATA-EPOCHS.")] = None,
) -> None:
    """Run a table of Hinton et al. (2018) again, row by row, going on where an earlier run stopped."""
    from capsedu.reproduce import reproduce_smallnorb, reproduce_viewpoint

    folder = out or Path("runs") / f"{table}-{data}-{epochs}"
    tables = {
        "smallnorb": lambda: reproduce_smallnorb(data, epochs, folder),
        "viewpoint": lambda: reproduce_viewpoint(data, epochs, seeds, folder),
    }
    if table not in tables:
        raise unknown_name("table", table, tables)
    if data not in ("smallnorb", "toynorb"):
        raise unknown_name("data set for this table", data, ("smallnorb", "toynorb"))
    tables[table]()
    typer.echo(f"done; the rows are in {folder} and the table among capsedu's results")
