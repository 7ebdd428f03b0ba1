"""A command whose help ends with what it reads, what it changes, and its exit codes."""

from collections.abc import Mapping
from typing import Any

import click


class Described(click.Command):
    """See `click.Command`. `codes` says what each exit code means."""

    def __init__(
        self, *args: Any, reads: str, changes: str, codes: Mapping[int, str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.reads, self.changes, self.codes = reads, changes, codes

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the three, one entry a line."""
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_dl([("Reads:", self.reads), ("Changes:", self.changes)])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), text) for code, text in sorted(self.codes.items())])
