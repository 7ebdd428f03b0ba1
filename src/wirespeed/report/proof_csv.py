"""The results of a proof as CSV: one row for each figure; a published one says that it is."""

import csv
import io
from collections.abc import Iterator

from wirespeed.model.spread import Spread
from wirespeed.report.build import build_run
from wirespeed.report.csv_table import FORMULA_STARTS
from wirespeed.report.page import DutSection, Missing
from wirespeed.report.proof_page import Proof
from wirespeed.report.published import published_rows

COLUMNS = (
    "source",
    "approach",
    "network",
    "client",
    "server",
    "figure",
    "unit",
    "n",
    "median",
    "least",
    "most",
    "verdict",
)
Row = dict[str, str]


def render_proof_csv(*proofs: Proof) -> str:
    """`results.csv`. The unit of a row's figures is in its column `unit`."""
    rows = [row for proof in proofs for row in _own_rows(proof)]
    for one in published_rows():
        own = {"source": "published, another machine", "approach": one.approach}
        for (mtu, streams), figure in one.iperf3_gbps.items():
            name = f"iperf3/{mtu}/{streams}"
            rows.append(own | {"figure": name, "unit": "Gb/s", "median": figure})
        rows.append(own | {"figure": "ping mean", "unit": "us", "median": one.ping_us_mean})
        rows.append(own | {"figure": "ping mdev", "unit": "us", "median": one.ping_us_mdev})
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({key: _word(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def _own_rows(proof: Proof) -> list[Row]:
    rows: list[Row] = []
    approach = proof.opening.spec.approach
    for host, resting in proof.summary.idle_cores.items():
        rows.append({"figure": f"cores at rest, {host}", "unit": "cores"} | _spread(resting, 1))
    for cell in proof.summary.iperf3:
        own = {"network": cell.pair.network, "client": cell.pair.client, "server": cell.pair.server}
        gbps = own | {"figure": cell.name, "unit": "Gb/s"}
        rows.append(gbps | _spread(cell.bps, 1e9) | {"verdict": "; ".join(cell.failed)})
        for host, cost in cell.host_cores_per_gbps.items():
            name = {"figure": f"{cell.name} cores, {host}", "unit": "cores for each Gb/s"}
            rows.append(own | name | _spread(cost, 1))
    for ping in proof.summary.pings:
        own = {"network": ping.pair.network, "client": ping.pair.client, "server": ping.pair.server}
        own |= {"unit": "us", "verdict": "; ".join(ping.failed)}
        rows.append(own | {"figure": "ping mean"} | _spread(ping.mean_us, 1))
        rows.append(own | {"figure": "ping mdev"} | _spread(ping.mdev_us, 1))
    for lost in proof.summary.failovers:
        own = {"network": lost.pair.network, "client": lost.pair.client, "server": lost.pair.server}
        own |= {"verdict": lost.verdict.value, "n": "1"}
        where = f"{lost.host} {lost.port}"
        for figure, value, unit in (
            (f"fail-over outage, {where}", lost.outage_ms, "ms"),
            (f"fail-over return outage, {where}", lost.return_outage_ms, "ms"),
            (f"fail-over lost, {where}", lost.lost_packets, "packets"),
        ):
            figured = f"{value:.10g}" if lost.is_measured and value is not None else ""
            rows.append(own | {"figure": figure, "unit": unit, "median": figured})
    for forged in proof.isolation:
        rows.append(
            {
                "network": f"{forged.sender_network} to {forged.receiver_network}",
                "client": forged.sender,
                "server": forged.receiver,
                "figure": f"arrived, {forged.forged}",
                "unit": "frames",
                "n": str(forged.sent),
                "median": str(forged.arrived),
                "verdict": forged.verdict.value,
            }
        )
    for told in proof.summary.offloads:
        own = {"network": told.pair.network, "client": told.pair.client, "server": told.pair.server}
        own |= {"verdict": told.verdict.value, "n": "1", "unit": "packets"}
        for figure, count in (
            ("of the VF", told.vf_packets),
            ("in software", told.software_packets),
            ("on the wire", told.port_packets),
        ):
            median = "" if count is None else str(count)
            rows.append(own | {"figure": f"offload, {told.host}, {figure}", "median": median})
    if proof.bench:
        rows += [row for dut in build_run(proof.bench, label="").duts for row in _bench_rows(dut)]
    return [{"source": "this run", "approach": approach} | row for row in rows]


def _bench_rows(dut: DutSection) -> Iterator[Row]:
    """Give what was found of each frame size; all the rest is in the bench's own CSV."""
    for result in dut.results:
        found, frames = result.outcome, result.outcome.mix.label
        name = {"figure": f"rfc2544/{frames} zero-loss rate, {dut.name}", "unit": "Mpps"}
        again = 1 if found.confirmations is None else found.confirmations.trials
        n = 0 if found.throughput_pps is None else again
        row = name | {"n": str(n), "verdict": found.verdict}
        if not isinstance(result.throughput_pps, Missing):
            row["median"] = f"{result.throughput_pps / 1e6:.6g}"
        yield row
        if isinstance(result.latency, Missing):
            continue
        name = {"figure": f"rfc2544/{frames} latency p99, {dut.name}", "unit": "us", "n": "1"}
        yield name | {"median": f"{result.latency.latency_ns_p99 / 1e3:.6g}"}


def _spread(found: Spread | None, unit: float) -> Row:
    if found is None:
        return {"n": "0"}
    return {
        "n": str(found.n),
        "median": f"{found.median / unit:.6g}",
        "least": f"{found.least / unit:.6g}",
        "most": f"{found.most / unit:.6g}",
    }


def _word(text: str) -> str:
    """Text that a spreadsheet would take for a formula gets a quote that keeps it text."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
