"""The table of several demos: rows of one state of the cores, and nothing that was not proven."""

from demo_runs import Demo, Made, summary, table


def demo(*rates: float | None, cores: str = "near") -> Demo:
    return Demo(
        seconds=60,
        results=tuple(
            Made(
                dut="testpmd-macswap",
                frame_label=str(size),
                throughput_pps=rate,
                cores=cores,
                limited_by="DUT core busy",
            )
            for size, rate in zip((64, 128), rates, strict=True)
        ),
    )


def test_runs_are_held_against_their_median_and_the_quiet_one_of_the_same_state() -> None:
    quiet = [demo(4e6, 3e6), demo(4.2e6, 3e6), demo(3e6, 2e6, cores="far")]
    busy = [demo(2e6, None)]
    assert table(busy, quiet)[2:] == [
        "| testpmd-macswap | 64 | near | 1 of 1 | 2.000 | +0% | +0% | -51% | DUT core busy |",
        "| testpmd-macswap | 128 | near | 0 of 1 | — | — | — | — | DUT core busy |",
    ]
    assert table(quiet, quiet)[4].startswith("| testpmd-macswap | 64 | far | 1 of 1 | 3.000 |")


def test_the_summary_counts_what_is_whole_and_what_lies_near() -> None:
    said = summary([demo(4e6, 3e6), demo(4e6, None), demo(6e6, 3e6)])
    assert said == (
        "2 of 3 runs proved every result; 1 of 2 rows with several runs of one state lie within "
        "10% of their median; seconds: 60, 60, 60"
    )


def test_rows_of_one_run_or_of_changing_cores_are_not_counted() -> None:
    said = summary([demo(4e6, 3e6), demo(6e6, 9e6, cores="both"), demo(2e6, 1e6, cores="both")])
    assert "; 0 of 0 rows with several runs" in said
