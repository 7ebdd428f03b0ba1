"""Every remedy that the doctor names exists: as steps, or with the reason why it is by hand.

What a remedy prints is what its steps would run on the host of the case; where it is shorter, to be
typed, ALIKE says once why both do the same.
"""

import json
import re
from collections.abc import Iterator

import pytest
from remedies import BY_SLUG, CASES, Told, remedies, state_of

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Remedy, StepCall
from wirespeed.model.observed import Unreadable
from wirespeed.model.question import Question
from wirespeed.model.step import Step

ORDER = list(Danger)
NOT_PUT_BACK = "steering.rss_uses_few_queues/present_one_queue_gets_most"
WITH_STEPS = [told for told in remedies() if told.remedy.steps]

NO_STEP = {
    "driver.taken_from_dpdk": "a function goes back to the kernel's driver",
    "eswitch.encap_off": "the encapsulation mode of an eswitch",
    "eswitch.inline_too_small": "the headers that an eswitch reads of a VF's packets",
    "eswitch.lag_inactive": "VFs of a bond in switchdev mode go and come in an order of their own",
    "eswitch.switchdev_refused": "VFs go and come again in one change: two states of one count",
    "ovs.offload_not_in_force": "Open vSwitch is restarted",
    "ovs.offload_off": "Open vSwitch is told to offload",
    "pause.received": "flow control by priority (PFC)",
    "pause.sent": "flow control by priority (PFC)",
    "sriov.vf_without_link": "the link state and the GUIDs of a VF",
    "tuned.profile_saves_power": "a profile sets more than a plan could show",
    "windows.property_not_in_force": "an adapter of Windows is started anew",
    "windows.sriov_off": "SR-IOV of Windows",
    "windows.tcp_window_restricted": "TCP of Windows",
    "windows.vmq_off": "the weight of a guest's adapter",
}
"""Rule: what no step knows yet. The next steps are those of the eswitch and of Open vSwitch."""

LOOKS = {
    "ethtool", "grep", "ls", "lspci", "modinfo", "ovs-appctl", "dmesg", "ip", "tc",
    "update-alternatives",
    "Get-SmbMultichannelConnection",
}  # fmt: skip
"""What a remedy by hand may print: commands that look, and those that TYPED_BY_HAND lists."""
TYPED_BY_HAND = {
    "driver.installed_not_running": "reboot",
    "driver.mixed": "reboot",
    "driver.taken_from_dpdk": "tee",
    "eswitch.encap_off": "devlink",
    "eswitch.inline_too_small": "devlink",
    "esxi.no_vfs": "esxcli",
    "eswitch.lag_inactive": "tee",
    "eswitch.switchdev_refused": "devlink tee",
    "ovs.dpdk_not_initialized": "systemctl",
    "ovs.interface_error": "ovs-vsctl",
    "ovs.offload_not_in_force": "systemctl",
    "ovs.offload_off": "ovs-vsctl",
    "ovs.ports_differ_in_mtu": "ovs-vsctl",
    "ovs.waits_for_flows": "ovs-vsctl",
    "pause.received": "dcb",
    "pause.sent": "dcb",
    "pcie.speed_below_capability": "setpci",
    "rdma.packets_lost": "mlxreg",
    "sriov.vf_without_link": "ip",
    "tuned.profile_saves_power": "tuned-adm",
}
"""Rule: the commands that its remedy by hand changes something with."""
CMDLETS_BY_HAND = {
    "windows.property_not_in_force": ("Restart-NetAdapter",),
    "windows.sriov_off": ("Enable-NetAdapterSriov", "Set-VMNetworkAdapter"),
    "windows.smb_not_by_rdma": ("Enable-NetAdapterRdma",),
    "windows.switch_joins_segments": ("Set-VMSwitch",),
    "windows.tcp_window_restricted": ("Set-NetTCPSetting",),
    "windows.vmq_off": ("Set-VMNetworkAdapter",),
}
"""The same for Windows."""


def ids(told: Told) -> str:
    return told.case


def test_every_rule_that_finds_something_tells_what_to_do():
    """Hyper-V's own choice of queue, and its limits, are nobody's to change."""
    without = BY_SLUG.keys() - {told.rule for told in remedies()}
    assert without == set()


@pytest.mark.parametrize("told", WITH_STEPS, ids=ids)
def test_a_remedy_is_a_step_that_can_be_made(told: Told):
    for call, step in zip(told.remedy.steps, told.steps, strict=True):
        assert step.model_dump()["step"] == call.kind
        assert step.subject and step.why


@pytest.mark.parametrize("told", WITH_STEPS, ids=ids)
def test_a_remedy_is_as_dangerous_as_its_steps(told: Told):
    worst = max((step.danger for step in told.steps), key=ORDER.index)
    if told.rule == "link.down" and worst is Danger.DROPS_LINK:
        worst = Danger.NONE  # there is no link to drop
    assert told.remedy.danger is worst


@pytest.mark.parametrize("told", WITH_STEPS, ids=ids)
def test_what_is_printed_is_what_its_steps_would_run(told: Told):
    printed = sorted(line for c in told.remedy.commands for line in alike(c.line()))
    run = sorted(line for step in told.steps for line in _run(told, step))
    assert printed == run


def test_a_table_that_could_not_be_put_back_is_left_alone():
    """Of the remedies that are steps this one is refused by its step: the plan says why."""
    (told,) = (t for t in WITH_STEPS if t.case == NOT_PUT_BACK)
    (step,) = told.steps
    section = told.capture.section("ethtool-rss", "enp59s0f0")
    assert section is not None
    found = step.parse(section)
    assert isinstance(found, Unreadable)
    assert found.reason == "no words of ethtool make its table again"


def _run(told: Told, step: Step) -> Iterator[str]:
    now = state_of(told, step)
    goal = step.wanted(now)
    assert now != goal, "the step finds nothing to do where the rule found a fault"
    for command in step.change(now, goal):
        yield from alike(command.line())


ALIKE: tuple[tuple[str, str, str], ...] = (
    (
        r"sysctl -w '?([a-z0-9_.]+)=([^']*)'?",
        r"sysctl \1 \2",
        "sysctl(8) writes the file that the step writes",
    ),
    (
        r"(?:echo|printf '%s\\n') '?([^']*?)'? \| tee /proc/sys/(\S+)",
        r"sysctl \2 \1",
        "as above: a name has dots for slashes",
    ),
    (
        r"cpupower frequency-set -g (\w+)",
        r"governor \1",
        "cpupower writes scaling_governor of every policy; the step those that differ, in one tee",
    ),
    (
        r"echo (\w+) \| tee (/sys/devices/system/cpu/cpufreq/policy\d+/scaling_governor ?)+",
        r"governor \1",
        "as above",
    ),
    (
        r"cpupower frequency-set -u (\d+)",
        r"limit \1",
        "cpupower writes scaling_max_freq of every policy; the step those that are limited",
    ),
    (
        r"echo (\d+) \| tee (/sys/devices/system/cpu/cpufreq/policy\d+/scaling_max_freq ?)+",
        r"limit \1",
        "as above",
    ),
    (
        r"cpupower idle-set -D 11",
        r"deep states off",
        "cpupower writes `disable` of every state of 11 us or more; the step of more than 10 us",
    ),
    (
        r"echo 1 \| tee (/sys/devices/system/cpu/cpu\d+/cpuidle/state\d+/disable ?)+",
        r"deep states off",
        "as above",
    ),
    (
        r"echo '(GRUB_CMDLINE_LINUX_DEFAULT=[^']*)' \| tee (\S+?\.cfg)(\.wirespeed)?",
        r"\2: \1",
        "the step writes beside the file and renames, so that no half of it is ever read",
    ),
    (
        r"(mstconfig|mlxconfig) -d (\S+) (?:-y )?set (.*)",
        r"\1 -d \2 set \3",
        "a person is asked by the tool itself; the step was allowed before",
    ),
)
"""Pattern, what it is, and why the two ways to write it do the same."""
ALSO_RUN = (
    r"mkdir -p /etc/default/grub\.d",
    r"mv -f (/etc/default/grub\.d/\S+)\.wirespeed \1",
    r"sync /etc/default/grub\.d/\S+\.wirespeed",
    r"sync /etc/default/grub\.d",
)
"""What the step runs besides: a folder that most hosts have, the flush to disk, and the rename."""


def alike(line: str) -> Iterator[str]:
    if any(re.fullmatch(pattern, line) for pattern in ALSO_RUN):
        return
    for pattern, same, _ in ALIKE:
        match = re.fullmatch(pattern, line)
        if match:
            text = match.expand(same)
            yield text.replace("/", ".") if "/proc/sys/" in line else text
            return
    yield line


def test_every_likeness_is_needed():
    lines = [c.line() for told in WITH_STEPS for c in told.remedy.commands]
    lines += [
        c.line()
        for told in WITH_STEPS
        for step in told.steps
        for c in step.change(state_of(told, step), step.wanted(state_of(told, step)))
    ]
    for pattern in (*(pattern for pattern, _, _ in ALIKE), *ALSO_RUN):
        assert any(re.fullmatch(pattern, line) for line in lines), pattern


def test_what_no_step_knows_yet_is_listed():
    found = {t.rule for t in remedies() if t.remedy.by_hand is ByHand.NO_STEP and t.remedy.commands}
    assert found == NO_STEP.keys()


def test_a_kernel_that_something_else_starts_is_by_hand():
    """Without GRUB nobody knows where its parameters come from."""
    for told in remedies():
        if told.remedy.by_hand is ByHand.NO_STEP and told.rule not in NO_STEP:
            assert "GRUB was not found here" in told.remedy.text


@pytest.mark.parametrize("told", [t for t in remedies() if t.remedy.by_hand], ids=ids)
def test_a_remedy_by_hand_looks_or_is_listed(told: Told):
    for command in told.remedy.commands:
        tool = command.argv[0]
        typed = {*TYPED_BY_HAND.get(told.rule, "").split(), *CMDLETS_BY_HAND.get(told.rule, ())}
        assert tool in LOOKS or tool in typed, command.line()


def test_every_reason_is_used():
    used = {told.remedy.by_hand for told in remedies()}
    assert set(ByHand) - used <= {ByHand.NO_NAME}


def test_a_name_that_is_not_safe_in_a_command_is_by_hand():
    """The finding stands, for the fault is there; and nothing is to be typed or done by a step."""
    slug, case = (
        "mtu.jumbo_unused",
        next(t for t in remedies() if t.rule == "mtu.jumbo_unused").case,
    )
    text = (CASES / case / "capture.txt").read_text().replace("enp3s0f0np0", "a;b$(id)")
    facts = HostFacts("host", parse_capture(text, case))
    question = json.loads((CASES / case / "expected.json").read_text()).get("question", {})
    findings = diagnose(facts, Question(**question), [BY_SLUG[slug]]).findings
    reasons = {remedy.by_hand for finding in findings for remedy in finding.remedies}
    assert reasons == {ByHand.NO_NAME}
    assert not any(remedy.commands for finding in findings for remedy in finding.remedies)


@pytest.mark.parametrize(
    "fields",
    [{}, {"steps": (StepCall.of("rings", rx=1),), "by_hand": ByHand.BIOS}],
)
def test_there_is_no_remedy_without_either(fields: dict[str, object]):
    with pytest.raises(ValueError, match="either steps or by hand"):
        Remedy.model_validate({"text": "x", **fields})
