"""`wirespeed ceiling`: the path as a ledger of ceilings."""

import click


@click.command()
def ceiling() -> None:
    """Show the most that a path can carry, and what bounds it."""
