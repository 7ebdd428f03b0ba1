"""The option of every command that takes hosts: to take one that another run has."""

import click

break_lock = click.option(
    "--break-lock",
    "breaks_lock",
    is_flag=True,
    help="Take a host from another run that is gone for good; what it left armed stays armed.",
)
