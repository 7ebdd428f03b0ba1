"""A capture that lacks what a step reads: a script reads it there, and the plan is made after all.

The script runs here, in a shell, with stand-ins for the tools of Open vSwitch: it is the host's.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from described import doc_wsl2
from described.doc_sriov import PFS, as_found
from described.host import Host, capture_of
from described.planned import before, call, spec_of
from described.test_plan_ovs_document import described as with_open_vswitch
from described.test_plan_ovs_document import guests
from described.windows import Windows
from described.windows import as_found as windows_as_found
from wirespeed.model.error import InputError
from wirespeed.model.plan import Plan

OVS_VSCTL = """\
#!/bin/sh
case $* in
*dpdk_initialized*)
	printf %s '{"headings":["other_config","external_ids","dpdk_initialized"],'
	echo '"data":[[["map",[]],["map",[["rundir","/var/run/openvswitch"]]],false]]}' ;;
*Open_vSwitch)
	printf %s '{"headings":["other_config","external_ids"],'
	echo '"data":[[["map",[]],["map",[["rundir","/var/run/openvswitch"]]]]]}' ;;
*)
	for word in "$@"; do
		[ "$word" = list ] && echo '{"headings":["name"],"data":[]}'
	done
	true ;;
esac
"""
ALTERNATIVES = """\
#!/bin/sh
echo 'Name: ovs-vswitchd
Link: /usr/sbin/ovs-vswitchd
Status: auto
Best: /usr/lib/openvswitch-switch/ovs-vswitchd
Value: /usr/lib/openvswitch-switch/ovs-vswitchd

Alternative: /usr/lib/openvswitch-switch/ovs-vswitchd
Priority: 100

Alternative: /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
Priority: 50'
"""


GREP = """\
#!/bin/sh
shift 2
for path in "$@"; do
	case $path in
	*/driver_override) echo "$path:(null)" ;;
	*/uevent)
		address=${path%/uevent}
		echo "$path:DRIVER=ice"
		echo "$path:PCI_SLOT_NAME=${address##*/}" ;;
	*/flags) echo "$path:0x1003" ;;
	*/mtu) echo "$path:1500" ;;
	*) echo "grep: $path: No such file or directory" >&2 ;;
	esac
done
"""
OVS_TOOLS = {"ovs-vsctl": OVS_VSCTL, "update-alternatives": ALTERNATIVES}


def tools(folder: Path, scripts: dict[str, str]) -> Path:
    """A folder with stand-ins for what the script calls."""
    (folder / "tools").mkdir()
    for name, text in scripts.items():
        (folder / "tools" / name).write_text(text)
        (folder / "tools" / name).chmod(0o755)
    return folder / "tools"


def read_there(spec: Path, host: str, folder: Path, found: Path) -> str:
    """Run the script of --unread; leave what it prints beside the capture."""
    done = call(spec, "--unread", host)
    assert done.exception is None, done.exception
    environment = {"PATH": f"{found}:/usr/bin:/bin"}
    output = subprocess.run(
        ["/bin/sh", "-s"],
        input=done.output,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (folder / f"{host}.txt.more").write_text(output.stdout)
    return done.output


def spec_for(folder: Path, approach: str, text: str, **more: Any) -> Path:
    path = spec_of(folder, {"alpha": text, "beta": text}, guests())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"approach": approach} | more))
    return path


@pytest.mark.parametrize(
    ("approach", "kinds"),
    [
        ("ovs-tc", {"ovs_config", "ovs_bridge", "ovs_port"}),
        ("ovs-dpdk", {"ovs_config", "ovs_bridge", "ovs_port", "alternative"}),
    ],
)
def test_what_a_capture_lacks_is_read_by_a_script_and_then_it_is_planned(
    approach: str, kinds: set[str], tmp_path: Path
):
    spec = spec_for(tmp_path, approach, with_open_vswitch())
    error = call(spec).exception
    assert isinstance(error, InputError)
    assert error.what == "plan.cannot_tell"
    assert "--unread HOST" in error.found
    assert error.next.startswith("ovs-vsctl --timeout=10 --format=json")
    found = tools(tmp_path, OVS_TOOLS)
    for host in ("alpha", "beta"):
        script = read_there(spec, host, tmp_path, found)
        assert "ovs-vsctl" in script
    done = call(spec, "--json")
    assert done.exception is None, done.exception
    steps = Plan.model_validate_json(done.output).steps
    assert kinds <= {step.step["step"] for step in steps}
    again = call(spec, "--unread", "alpha").exception
    assert isinstance(again, InputError)
    assert again.what == "plan.nothing_unread"


@pytest.mark.parametrize("approach", ["legacy-vlan", "none"])
def test_of_other_approaches_a_capture_holds_all(approach: str, tmp_path: Path):
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, guests())
    if approach == "none":
        data = json.loads(spec.read_text())
        plain = {"hosts": data["hosts"], "approach": "none", "tuning": {"rings": "largest"}}
        spec.write_text(json.dumps(plain))
    assert call(spec).exception is None
    error = call(spec, "--unread", "beta").exception
    assert isinstance(error, InputError)
    assert error.what == "plan.nothing_unread"


def test_a_tester_and_its_dut_are_planned_from_captures(tmp_path: Path):
    host = Host()
    as_found(host)
    # A card that vfio-pci may have: DPDK drives a ConnectX beside its kernel driver.
    text = capture_of(host).replace(" driver=mlx5_core ", " driver=ice ")
    for name in ("gen", "fwd"):
        (tmp_path / f"{name}.txt").write_text(text)
    sides = {
        name: {"reach": str(tmp_path / f"{name}.txt"), "role": role, "ports": list(PFS),
               "cores": "2-3"}
        for name, role in (("gen", "tester"), ("fwd", "dut"))
    }  # fmt: skip
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps({
        "hosts": sides,
        "approach": "dpdk",
        "dpdk": {"hugepages": {"count": 512}, "memory_mib": 1024},
        "measure": {"rfc2544": {"frame_bytes": [64]}},
    }))  # fmt: skip
    error = call(spec).exception
    assert isinstance(error, InputError)
    assert "--unread HOST" in error.found
    assert error.next.startswith("grep -H '' /sys/bus/pci/devices/0000:03:00.0/driver_override")
    found = tools(tmp_path, {"grep": GREP.replace("mlx5_core", "ice")})
    for name in sides:
        read_there(spec, name, tmp_path, found)
    done = call(spec, "--json")
    assert done.exception is None, done.exception
    ports = [
        s for s in Plan.model_validate_json(done.output).steps if s.step["step"] == "dpdk_port"
    ]
    assert [(port.before or {}).get("mtu") for port in ports] == [1500] * 4


def test_of_windows_only_the_host_itself_tells(tmp_path: Path):
    linux, windows = Host(), Windows()
    doc_wsl2.workstation(linux)
    windows_as_found(windows)
    (tmp_path / "desk.txt").write_text(windows.capture(capture_of(linux)))
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps({
        "hosts": {"desk": {"reach": str(tmp_path / "desk.txt"), "ports": ["0000:0a:00.0"]}},
        "approach": "wsl2",
        "underlay": {"subnet": "10.10.10.0/24", "mtu": 9000},
    }))  # fmt: skip
    error = call(spec).exception
    assert isinstance(error, InputError), error
    assert (error.what, error.where) == ("plan.cannot_tell", "desk")
    assert "no script of a shell reads it: give the address of the host itself" in error.found
    assert error.next.startswith("Get-")


def test_a_host_that_is_up_needs_no_script(tmp_path: Path):
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, guests())
    data = json.loads(spec.read_text())
    data["hosts"]["beta"]["reach"] = "here"
    spec.write_text(json.dumps(data))
    assert "no host 'gamma'" in str(call(spec, "--unread", "gamma").exception)
