"""Files from outside, each in the worst shape of its kind: linear, bounded, one error of ours.

20 MB are read or refused in 5 s and 512 MB. Each runs the command in a process of its own.
"""

from pathlib import Path

import pytest
from described_ports import capture_text

import wirespeed as wirespeed_package
from hostile_reader import is_in_time, seconds_of, wirespeed
from wirespeed.host.private import read_private
from wirespeed.model.error import InputError
from wirespeed.model.journal_lines import MAX_LINES, read_journal_text
from wirespeed.model.json_value import read_json
from wirespeed.runs.fleet_record import LINES, read_events

PF = "enp3s0f0np0"
NETPLAN = "network: {version: 2, ethernets: {PF: {virtual-function-count: VFS}}}\n"
NMSTATE = """
interfaces:
- {name: PF, type: ethernet, ethernet: {sr-iov: {total-vfs: VFS}}}
"""
POLICY = """
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: p}
spec:
  nodeSelector: {kubernetes.io/hostname: alpha}
  nicSelector: {rootDevices: ["0000:03:00.0"]}
  numVfs: VFS
  resourceName: r
"""
LINK = "[Match]\nPath=pci-0000:03:00.0\n\n[Link]\nSR-IOVVirtualFunctions=VFS\n"
KEYS = {
    "netplan": (NETPLAN, "a.yaml", f"network.ethernets.{PF}.virtual-function-count"),
    "networkd": (LINK, "a.link", "line 5: [Link] SR-IOVVirtualFunctions"),
    "nmstate": (NMSTATE, "a.yaml", f"interfaces.{PF}.ethernet.sr-iov.total-vfs"),
    "sriov-operator": (POLICY, "a.yaml", "SriovNetworkNodePolicy p.numVfs"),
}
MANY = 99999999999


def imported(folder: Path, form: str, text: str, *more: str, total: int = 16):
    (folder / "host.txt").write_text(capture_text(total=total))
    path = folder / KEYS[form][1]
    path.write_text(text)
    host = f"alpha={folder / 'host.txt'}"
    return wirespeed("import-spec", path, "--as", form, "--host", host, *more)


@pytest.mark.parametrize("form", KEYS)
def test_a_hostile_file_asks_for_more_vfs_than_pci_has(form: str, tmp_path: Path):
    text, name, key = KEYS[form]
    done = imported(tmp_path, form, text.replace("PF", PF).replace("VFS", str(MANY)))
    said = " ".join(done.stderr.split())
    assert done.refuses("formats.invalid")
    assert f"{tmp_path / name} found {key}: found {MANY}; expected" in said
    assert "at most 65535 (TotalVFs has 16 bits in PCI Express)" in said


def test_a_hostile_file_has_a_number_of_5000_digits(tmp_path: Path):
    text = NETPLAN.replace("PF", PF).replace("VFS", f'"{"9" * 5000}"')
    assert imported(tmp_path, "netplan", text).refuses("formats.invalid")


def test_a_hostile_file_is_the_capture_of_a_port_with_10e11_vfs(tmp_path: Path):
    text = NETPLAN.replace("PF", PF).replace("VFS", "4")
    done = imported(tmp_path, "netplan", text, total=MANY)
    assert done.returncode == 0 and "number of VFs 4" in done.stderr and done.is_bounded


def test_a_hostile_file_names_each_vf_of_a_port_as_a_netdev(tmp_path: Path):
    """16,000 netdevs were each compared with the names of 65,535 VFs."""
    netdevs = "".join(f"    e{number}: {{link: {PF}}}\n" for number in range(16_000))
    done = imported(
        tmp_path, "netplan", f"network:\n  ethernets:\n{netdevs}", total=65_535
    )  # fmt: skip
    assert done.refuses("formats.says_nothing") and len(done.stderr) < 10_000


def test_a_hostile_file_gives_each_of_5000_vfs_a_vlan(tmp_path: Path):
    """The settings of each VF were sought among those of all."""
    vfs = ", ".join(f"{{id: {vf}, vlan-id: 42}}" for vf in range(5000))
    text = (
        f"interfaces:\n- {{name: {PF}, type: ethernet, mtu: 9000, ethernet: {{sr-iov: "
        f"{{total-vfs: 5000, vfs: [{vfs}]}}}}}}\n"
    )
    subnets = ("--subnet", "underlay=192.168.0.0/16", "--subnet", "vlan42=10.0.0.0/8")
    done = imported(tmp_path, "nmstate", text, *subnets, total=65_535)
    assert done.returncode == 0 and done.stdout.count("host: alpha") == 5000 and done.is_bounded


def test_a_hostile_file_repeats_a_policy_of_65535_vfs(tmp_path: Path):
    one = POLICY.replace("VFS", "65535")
    assert imported(tmp_path, "sriov-operator", "---".join([one] * 900)).refuses("formats.invalid")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[" + "a," * 1_000_000, "spec.not_yaml"),
        ("a: " + "b " * 1_000_000, "spec.invalid"),
        ("#" * (20 << 20), "file.too_large"),
    ],
    ids=["values", "one text", "20 MB"],
)
def test_a_hostile_file_is_a_spec(text: str, what: str, tmp_path: Path):
    (tmp_path / "a.yaml").write_text(text)
    assert wirespeed("plan", tmp_path / "a.yaml").refuses(what)


def test_a_hostile_file_without_an_end_is_a_spec():
    assert wirespeed("plan", "/dev/zero").refuses("file.too_large")


def test_a_hostile_file_is_no_capture_and_nothing_of_it_is_shown(tmp_path: Path):
    """A spec may name any file as a host: whoever plans need not be who may read it."""
    (tmp_path / "shadow").write_text("root:$6$planted:19000:0:99999:7:::\n")
    spec = f"hosts: {{a: {{reach: {tmp_path / 'shadow'}, ports: ['0000:03:00.0']}}}}\n"
    (tmp_path / "a.yaml").write_text(f"{spec}approach: none\n")
    done = wirespeed("plan", tmp_path / "a.yaml")
    assert done.refuses("capture.not_one") and "planted" not in done.stderr


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_hostile_file_of_utf_8_is_read_and_written_in_a_locale_of_ascii(tmp_path: Path):
    (tmp_path / "host.txt").write_text(capture_text().replace("RX:", "RX\u00e9:"), "utf-8")
    page = tmp_path / "a.html"
    done = wirespeed("doctor", tmp_path / "host.txt", "--html", page, environment=ASCII)
    assert "Traceback" not in done.stderr and page.read_text("utf-8").startswith("<!doctype")


def test_a_word_that_the_locale_cannot_hold_is_refused_with_the_encoding(tmp_path: Path):
    done = wirespeed("doctor", f"{tmp_path}/\u00e9.txt", environment=ASCII)
    assert done.refuses("locale.encoding") and "encoding is ascii" in done.stderr


def test_a_hostile_file_of_trials_without_an_end_is_not_in_memory(tmp_path: Path):
    with (tmp_path / "trials.jsonl").open("wb") as file:
        file.truncate(8 << 30)
    assert wirespeed("report", tmp_path).refuses("file.too_large")


@pytest.mark.parametrize("line", ["", "xx", '{"a":1}', "[" * 5000])
def test_a_hostile_file_of_lines_is_a_journal(line: str):
    """Each line was judged, whatever their number: 76 s for 20 MB of ends of lines."""
    data = f"{line}\n".encode() * ((20 << 20) // (len(line) + 1))
    told = []
    assert is_in_time(seconds_of(lambda: told.append(read_journal_text(data))))
    assert told[0].lines == data.count(b"\n")
    assert told[0].lost >= told[0].lines - 1


def test_a_journal_that_is_too_long_says_from_which_line_on_nothing_was_read():
    data = b"xx\n" * (MAX_LINES + 5) + b"torn"
    told = read_journal_text(data)
    assert (told.damage[-1].line, told.damage[-1].lost) == (MAX_LINES + 1, 5)
    assert "no run has more than 100000 lines" in told.damage[-1].found
    assert (told.lines, told.torn_bytes) == (MAX_LINES + 5, 4)


def test_a_hostile_file_of_trials_has_lines_alone(tmp_path: Path):
    (tmp_path / "trials.jsonl").write_bytes(b"\n" * (20 << 20))
    assert wirespeed("report", tmp_path).refuses("file.too_large")


def test_a_hostile_file_is_what_came_of_a_fleet_s_waves(tmp_path: Path):
    tmp_path.chmod(0o700)
    (tmp_path / LINES).write_bytes(b"\n" * (20 << 20))
    (tmp_path / LINES).chmod(0o600)
    events = []
    assert is_in_time(seconds_of(lambda: events.append(read_events(tmp_path))))
    assert events == [([], 20 << 20)]


@pytest.mark.parametrize("shape", [b"{" * (20 << 20), b"\0" * (20 << 20), b"SQLite format 3\0"])
def test_a_hostile_file_is_the_fleet_s_database(shape: bytes, tmp_path: Path):
    (tmp_path / "db.sqlite").write_bytes(shape)
    done = wirespeed("fleet", "history", "--database", f"sqlite:///{tmp_path}/db.sqlite")
    assert done.refuses("database.failed")


def test_a_hostile_file_is_a_private_one_without_an_end(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    with path.open("wb") as file:
        file.truncate(8 << 30)
    path.chmod(0o600)
    with pytest.raises(InputError) as refused:
        read_private(path)
    assert refused.value.what == "file.too_large"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_a_hostile_file_of_json_that_is_nested_without_an_end_is_one_error(text: str):
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(text)


def test_json_of_others_is_read_in_one_way():
    """`json.loads` raises RecursionError too: whoever catches ValueError alone would fall."""
    own = {"json_value.py", "guest_forger.py", "guest_telemetry.py", "workload/run.py"}
    source = Path(wirespeed_package.__file__).parent
    found = [
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if "json.loads(" in path.read_text() and not str(path).endswith(tuple(own))
    ]
    assert found == []
