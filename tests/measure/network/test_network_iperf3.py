"""The matrix between two described guests; what iperf3 prints there is recorded."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.measure.network import path
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.iperf3 import iperf3_matrix
from wirespeed.model.error import MeasurementError
from wirespeed.model.network_trial import Iperf3Trial, NetworkTrial, Pair
from wirespeed.model.spec.measure import Iperf3Spec

DATA = Path(__file__).parent.parent / "data"
PAIR = Pair(client="a", server="b", network="n")
GOOD = (DATA / "iperf3-3.12-one-way.json").read_text()
REFUSED = (DATA / "iperf3-3.12-refused.json").read_text()


class DescribedGuest:
    """A guest without a bond whose MTU is 9000; it knows what the matrix asks, and nothing else."""

    def __init__(self, said: str = GOOD) -> None:
        self.said, self.errors = said, ""
        self.mtu = "9000"
        self.vlans: dict[str, int] = {}
        """MTUs of VLANs on its netdev; what is above a new MTU goes down with it, and stays."""
        self.servers = self.leases = 0
        self.mtus_of_runs: list[str] = []
        self.clients: list[tuple[str, ...]] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        output = self._answer(tuple(argv), stdin or "")
        errors = self.errors if "iperf3" in argv else ""
        return Completed(
            argv=tuple(argv), output=output, errors=errors, returncode=0, duration_s=0.0
        )

    def _answer(self, argv: tuple[str, ...], script: str) -> str:
        if argv[:2] == ("sh", "-c") and argv[3:] == ("sh", "net0p0"):
            on_it = [f"upper_{vlan} {mtu}\n" for vlan, mtu in self.vlans.items()]
            return "".join((f"net0p0 {self.mtu}\n", *on_it))
        if argv == ("cat", "/proc/stat"):
            return ""
        if argv[:3] == ("env", "LC_ALL=C", "ping"):
            return "answered"
        if argv[0] == "timeout" and "iperf3" in argv:
            self.mtus_of_runs.append(self.mtu)
            self.clients.append(argv)
            return self.said
        if script.startswith("# Makes a change"):
            self.leases += 1
            self._set(argv[5])
            return "77 76\n"
        if script.startswith("# Gives back"):
            self.leases -= 1
            self._set(argv[-1])
            return ""
        if script.startswith("# Starts an iperf3 server"):
            self.servers += 1
            return "listens 88\n"
        if script.startswith("# Ends the server"):
            self.servers -= 1
            return ""
        raise AssertionError(f"it is not described: {argv} {script[:40]}")

    def _set(self, lines: str) -> None:
        for line in lines.splitlines():
            netdev, mtu = line.split()[4], int(line.split()[-1])
            if netdev == "net0p0":
                self.mtu = str(mtu)
                self.vlans = {vlan: min(of, mtu) for vlan, of in self.vlans.items()}
            else:
                assert mtu <= int(self.mtu), "the kernel refuses more above than below"
                self.vlans[netdev] = mtu


def endpoint(name: str, guest: DescribedGuest, number: int) -> Endpoint:
    attachment = Attachment(
        network="n", segment=42, netdev="net0p0", members=("net0p0", "net0p1"),
        address=IPv4Address(f"192.168.10.{number}"), prefix_length=24,
        mac=f"02:00:00:00:00:0{number}", mtu=9000,
    )  # fmt: skip
    return Endpoint(name, name, guest, {"n": attachment})


def measured(client: DescribedGuest, server: DescribedGuest, spec: Iperf3Spec) -> list[Iperf3Trial]:
    recorded: list[NetworkTrial] = []
    guests = {"a": endpoint("a", client, 1), "b": endpoint("b", server, 2)}
    iperf3_matrix(guests, {}, spec, [PAIR], recorded.append)
    assert (server.servers, client.leases, server.leases) == (0, 0, 0), "all is given back"
    assert (client.mtu, server.mtu) == ("9000", "9000")
    return [trial for trial in recorded if isinstance(trial, Iperf3Trial)]


def test_run_1_of_every_cell_comes_before_run_2_of_any():
    client, server = DescribedGuest(), DescribedGuest()
    spec = Iperf3Spec(mtu=(1500, 9000), streams=(1,), bidirectional=False, runs=2, seconds=1)
    trials = measured(client, server, spec)
    cells = [(trial.number, trial.mtu) for trial in trials]
    assert cells == [(1, 1500), (1, 9000), (2, 1500), (2, 9000)]
    assert client.mtus_of_runs == ["1500", "9000", "1500", "9000"]
    assert all(not trial.failed and trial.returned_bps is None for trial in trials)
    # No host's readings made sense: then none is told.
    assert all(trial.host_cpu == () for trial in trials)


def test_a_run_without_figures_says_why_and_the_others_go_on():
    spec = Iperf3Spec(mtu=(9000,), streams=(1, 2), bidirectional=False, runs=1, seconds=1)
    trials = measured(DescribedGuest(REFUSED), DescribedGuest(), spec)
    assert [trial.streams for trial in trials] == [1, 2]
    for trial in trials:
        assert "Connection refused" in trial.failed
        assert trial.sent_bps == 0


def test_an_iperf3_that_is_too_old_for_both_directions_is_named():
    client = DescribedGuest("")
    # As 3.5 does, shortened.
    client.errors = (
        "iperf3: unrecognized option '--bidir'\nUsage: iperf3 [-s|-c host] [options]\n\n"
        "iperf3 homepage at: http://software.es.net/iperf/\n"
        "Report bugs to:     https://github.com/esnet/iperf\n"
    )
    spec = Iperf3Spec(mtu=(9000,), streams=(1,), runs=1, seconds=1)
    (trial,) = measured(client, DescribedGuest(), spec)
    assert "unrecognized option '--bidir'" in trial.failed
    assert "iperf3 3.7 or later is needed" in trial.failed
    assert "bidirectional: false" in trial.failed


def test_a_server_behind_a_firewall_is_given_up_by_iperf3_itself_so_that_it_says_so():
    client = DescribedGuest()
    measured(client, DescribedGuest(), Iperf3Spec(mtu=(9000,), streams=(1,), runs=1, seconds=1))
    (argv,) = client.clients
    ended_s = int(argv[argv.index("iperf3") - 1])
    given_up_ms = int(argv[argv.index("--connect-timeout") + 1])
    # After 1, 3 and 7 s Linux asks again: a SYN that is lost does not end a run.
    assert 7000 < given_up_ms < 1000 * (ended_s - 1)


def test_a_vlan_whose_mtu_the_kernel_lowered_with_its_port_s_has_its_own_again():
    client = DescribedGuest()
    client.vlans = {"net0p0.40": 9000, "net0p0.50": 1400, "storage": 4000}
    had = dict(client.vlans)
    spec = Iperf3Spec(mtu=(1500, 9000), streams=(1,), bidirectional=False, runs=1, seconds=1)
    assert all(not trial.failed for trial in measured(client, DescribedGuest(), spec))
    assert client.vlans == had


def test_a_switch_port_that_spanning_tree_holds_for_30_s_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
):
    class Described:
        def __init__(self, seconds: float) -> None:
            self.until = now[0] + seconds

        @property
        def expired(self) -> bool:
            return now[0] >= self.until

    now, client = [0.0], DescribedGuest()
    link_up_s, listens_s, learns_s = 4, 15, 15

    def ping(argv: Sequence[str], **_: object) -> Completed:
        now[0] += 1
        is_forwarding = now[0] > link_up_s + listens_s + learns_s
        return Completed(
            argv=tuple(argv), output="", errors="", returncode=int(not is_forwarding), duration_s=1
        )

    monkeypatch.setattr(path, "Deadline", Described)
    monkeypatch.setattr(path, "sleep_s", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(client, "run", ping)
    path.await_path(
        {"a": endpoint("a", client, 1), "b": endpoint("b", DescribedGuest(), 2)}, PAIR, 1500
    )
    assert now[0] > link_up_s + listens_s + learns_s


def test_mtus_are_read_by_name_on_a_host_as_it_is():
    lo = replace(endpoint("a", DescribedGuest(), 1).attachments["n"], netdev="lo", members=("lo",))
    here = Endpoint("a", "a", LocalRunner(), {"n": lo})
    own, _ = path._mtus(here, lo)
    assert own == {"lo": int(Path("/sys/class/net/lo/mtu").read_text())}


def test_an_mtu_above_the_network_s_own_is_not_tried():
    spec = Iperf3Spec(mtu=(9001,), streams=(1,), runs=3, seconds=1)
    assert measured(DescribedGuest(), DescribedGuest(), spec) == []


def test_an_mtu_that_is_refused_fails_its_own_cells(monkeypatch: pytest.MonkeyPatch):
    server = DescribedGuest()
    answer = server._answer

    def refuse(argv: tuple[str, ...], script: str) -> str:
        if script.startswith("# Makes a change"):
            raise MeasurementError("command.timeout", found="no answer")
        return answer(argv, script)

    monkeypatch.setattr(server, "_answer", refuse)
    spec = Iperf3Spec(mtu=(1500, 9000), streams=(1,), bidirectional=False, runs=1, seconds=1)
    low, high = measured(DescribedGuest(), server, spec)
    assert low.failed == "command.timeout: no answer"
    assert high.failed == ""
