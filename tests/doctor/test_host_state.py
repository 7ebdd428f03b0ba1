"""What stands on a host, compared: what is set is in it, what moves by itself is not."""

import re
from pathlib import Path

from wirespeed.doctor.host_state import differences, values_of
from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.link_events import LinkEvents
from wirespeed.facts.module import DRIVERS_TOO
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known

TESTS = Path(__file__).parents[1]
MARK = "wirespeed-capture 1 m-1234"
LINKS = """\
[{{"ifindex":{index},"ifname":"eth0","flags":["BROADCAST","UP"{live}],"mtu":{mtu},\
"operstate":"{state}","address":"02:00:00:00:00:01","vfinfo_list":[{vfs}]}}]"""
VF = '{"vf":0,"address":"02:aa:00:00:00:01","vlan_list":[{"vlan":42}],"spoofchk":true}'


def host(mtu: int = 1500, vfs: str = "", index: int = 2, state: str = "UP", live: str = ""):
    text = LINKS.format(index=index, mtu=mtu, state=state, vfs=vfs, live=live)
    routes = '[{"dst":"10.0.0.0/24","dev":"eth0","type":"unicast","table":"main"}]'
    sections = {"ip-link": text, "ip-addr": "[]", "ip-route": routes}
    lines = [MARK]
    for name, output in sections.items():
        lines += [f"m-1234 begin {name} -", output, "m-1234 end 0"]
    return HostFacts("alpha", parse_capture("\n".join([*lines, "m-1234 done", ""]), "alpha"))


def test_the_same_host_does_not_differ_from_itself():
    assert differences("alpha", values_of(host()), values_of(host())) == ()
    assert values_of(host())[("eth0", "mtu")] == "1500"


def test_a_value_that_changed_is_named_with_both():
    (one,) = differences("alpha", values_of(host()), values_of(host(mtu=9000)))
    assert (one.host, one.subject, one.what) == ("alpha", "eth0", "mtu")
    assert (one.before, one.now) == ("1500", "9000")


def test_a_vf_that_came_is_one_difference_and_not_one_for_each_of_its_settings():
    (one,) = differences("alpha", values_of(host()), values_of(host(vfs=VF)))
    assert (one.subject, one.what) == ("eth0 vf 0", "")
    assert one.before == "not there"
    assert "vlan 42" in one.now
    assert "is spoof checked yes" in one.now
    (gone,) = differences("alpha", values_of(host(vfs=VF)), values_of(host()))
    assert (gone.before, gone.now) == (one.now, "not there")


def test_another_vlan_of_a_vf_is_named():
    other = VF.replace("42", "43")
    (one,) = differences("alpha", values_of(host(vfs=VF)), values_of(host(vfs=other)))
    assert (one.subject, one.what, one.before, one.now) == ("eth0 vf 0", "vlan", "42", "43")


def test_a_link_that_came_up_and_an_index_that_counts_on_are_no_differences():
    later = host(index=7, state="DOWN", live=',"LOWER_UP"')
    assert differences("alpha", values_of(host()), values_of(later)) == ()


def test_a_clock_source_that_the_watchdog_changed_is_no_difference_and_a_release_is_one():
    def kernel(clocks: str, release: str = "6.1.0") -> HostFacts:
        folder = "/sys/devices/system/clocksource/clocksource0"
        lines = [MARK, "m-1234 begin kernel -", f"/proc/sys/kernel/osrelease:{release}"]
        lines += [f"{folder}/current_clocksource:{clocks.split()[0]}"]
        lines += [f"{folder}/available_clocksource:{clocks}", "m-1234 end 0", "m-1234 done", ""]
        return HostFacts("alpha", parse_capture("\n".join(lines), "alpha"))

    before = kernel("tsc hpet")
    assert isinstance(before[Kernel].clocksource, Known)
    assert differences("alpha", values_of(before), values_of(kernel("hpet"))) == ()
    (one,) = differences("alpha", values_of(before), values_of(kernel("tsc hpet", "6.1.1")))
    assert (one.before, one.now) == ("6.1.0", "6.1.1")


def test_memory_that_is_taken_and_what_the_kernel_says_meanwhile_are_no_differences():
    text = (TESTS / "facts/samples/captures/igb-lab.txt").read_text()
    before = HostFacts("alpha", parse_capture(text, "alpha"))
    taken, count = re.subn(r"((?:MemFree|MemAvailable|Cached):\s+)(\d+)", r"\g<1>1\2", text)
    assert count > 2 and "Node 0 MemFree" in text
    mark = re.search(r"^(\S+) begin module-messages .*\n", taken, re.M)
    assert mark is not None
    line = "[   99.1] igb 0000:01:00.0: probe with driver igb failed with error -5\n"
    said = f"{taken[: mark.end()]}{DRIVERS_TOO}\n{line}{taken[mark.end() :]}"
    now = HostFacts("alpha", parse_capture(said, "alpha"))
    assert now[DriverLog].refusals and not before[DriverLog].refusals
    assert differences("alpha", values_of(before), values_of(now)) == ()


def test_a_link_that_went_down_meanwhile_is_no_difference():
    text = (TESTS / "facts/samples/captures/igb-lab.txt").read_text()
    netdev = HostFacts("alpha", parse_capture(text, "alpha"))[Ports].ports[0].netdev
    mark = text.split(" begin ", 1)[0].splitlines()[-1].rpartition(" ")[2]
    end = text.rindex(f"{mark} done")

    def host_after(*downs: str) -> HostFacts:
        messages = "\n".join(["clock 1764000000 900.0", "since [ 1.0]", *downs])
        section = f"{mark} begin link-messages -\n{messages}\n{mark} end 0\n"
        return HostFacts("alpha", parse_capture(text[:end] + section + text[end:], "alpha"))

    before, now = host_after(), host_after(f"[  800.5] igb: {netdev} NIC Link is Down")
    assert now[LinkEvents].known != before[LinkEvents].known
    assert differences("alpha", values_of(before), values_of(now)) == ()


def test_differences_come_in_the_same_order_whatever_the_order_of_the_values():
    before = {("b", "mtu"): "1", ("a", "mtu"): "1", ("a", "flags"): "UP"}
    now = dict.fromkeys(reversed(before), "2")
    found = [(one.subject, one.what) for one in differences("alpha", before, now)]
    assert found == [("a", "flags"), ("a", "mtu"), ("b", "mtu")]


def test_what_can_no_longer_be_read_differs():
    text = "\n".join([MARK, "m-1234 begin ip-link -", "no JSON", "m-1234 end 0", "m-1234 done", ""])
    blind = HostFacts("alpha", parse_capture(text, "alpha"))
    assert not isinstance(blind[NetStack].links, dict)
    found = differences("alpha", values_of(host()), values_of(blind))
    assert any("not readable" in one.now for one in found)


def test_a_whole_capture_is_compared_in_hundreds_of_values():
    case = Path(__file__).parent.parent / "rules/cases/sriov.no_vfs"
    texts = [path.read_text() for path in case.glob("*/capture.txt")]
    assert texts
    for text in texts:
        values = values_of(HostFacts("x", parse_capture(text, "x")))
        assert values
        assert differences("x", values, values) == ()
