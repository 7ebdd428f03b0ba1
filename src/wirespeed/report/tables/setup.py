"""Machine, DUTs, tester and settings: what it takes to get the figures again."""

from wirespeed.report import format as fmt
from wirespeed.report.grid import Grid, columns, text
from wirespeed.report.page import Run

FACT_COLUMNS = columns("What", "Value", wraps=("What", "Value"))


def setup_grids(run: Run) -> tuple[Grid, ...]:
    """One table for the machine, for each DUT, for the tester and for the settings."""
    setup = run.setup
    method = {
        "Line": f"{setup.link_bps / 1e9:g} Gb/s"
        if setup.link_bps is not None
        else "no line: the wire is virtual",
        "Trials while searching": fmt.seconds(setup.trial_seconds),
        "Confirming trial": fmt.seconds(setup.confirm_seconds),
        "The same run by the full method": f"about {fmt.seconds(setup.full_method_seconds)}",
        "Started": setup.started_at,
        "wirespeed": setup.wirespeed,
    }
    return (
        _facts("Machine", tuple(setup.machine.items())),
        *(_facts(f"DUT: {dut.name}", dut.facts) for dut in run.duts),
        _facts("Tester", tuple(setup.tester.items())),
        _facts("Settings", (*setup.settings.items(), *method.items())),
    )


def _facts(title: str, facts: tuple[tuple[str, str], ...]) -> Grid:
    return Grid(
        title=title,
        caption="",
        columns=FACT_COLUMNS,
        rows=tuple(text(label, value) for label, value in facts)
        or (text("—", "the record says nothing of it"),),
        look="facts",
    )
