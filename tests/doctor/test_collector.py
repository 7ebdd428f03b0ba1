import os
import subprocess
from pathlib import Path
from shutil import which

import pytest

from wirespeed.apply.recorded_answers import CONTINUED
from wirespeed.catalog import facts
from wirespeed.doctor.collector import collector_script
from wirespeed.facts.hardware import Hardware
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import TIMED_OUT_RETURNCODE, Capture, parse_capture
from wirespeed.model.observed import Known
from wirespeed.runs.unread_sections import unread_lines

SHELLS = {"dash": ["dash"], "bash": ["bash"], "bash as sh": ["bash", "--posix"],
          "busybox": ["busybox", "sh"]}  # fmt: skip
NOBODY = 65534
TIMEOUT_S = 120.0
ODD_NETDEVS = (
    *("a'b", 'a"b', "$(touch${IFS}canary)", "`touch${IFS}canary`", "a;touch${IFS}canary", "*"),
    *("-n", "\\", "x\x1b[2J", "이더넷", "%s", "a&b", "~", "enp3s0f0np0"),
)


def run(
    script: str,
    argv: list[str] | None = None,
    *,
    cwd: Path | None = None,
    path: str | None = None,
    user: int | None = None,
) -> subprocess.CompletedProcess[str]:
    command = [*(argv or ["sh"]), "-s"]
    program = which(command[0])
    assert program, f"{command[0]}: scripts/install-system.sh test installs it"
    return subprocess.run(
        [program, *command[1:]],
        input=script,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
        cwd=cwd,
        env={**os.environ, "PATH": path or os.environ["PATH"]},
        user=user,
        group=user,
        extra_groups=[] if user is not None else None,
    )


def read(script: str, **options: object) -> Capture:
    done = run(script, **options)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    capture = parse_capture(done.stdout, "here")
    assert capture.complete
    for fact in facts():
        fact.parse(capture)
    return capture


def fake_tree(root: Path) -> str:
    """The collector as it runs where `root` has /sys, /proc and /etc."""
    script = collector_script()
    for top in ("sys", "proc", "etc", "run", "lib"):
        (root / top).mkdir(exist_ok=True)
        script = script.replace(f"/{top}/", f"{root}/{top}/").replace(
            f"{root}/proc{root}/", f"{root}/proc/"
        )
    return script


def test_every_shell_reads_the_same():
    assert run(collector_script()).stderr == ""
    names = {}
    for label, shell in SHELLS.items():
        capture = read(collector_script(), argv=shell)
        # Threads end while they are read.
        names[label] = [
            (s.name, s.subject, None if s.name.startswith("thread") else s.returncode)
            for s in capture.all_sections()
        ]
        assert len(names[label]) > 10
    for found in names.values():
        assert found == names["dash"]


def test_it_is_clean_to_shellcheck():
    program = which("shellcheck")
    assert program
    done = subprocess.run(
        [program, "--shell=sh", "-"],
        input=collector_script(3),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.stdout == ""


def test_a_torn_script_does_nothing(tmp_path: Path):
    script = collector_script()
    start = script.index("{\n")
    for length in range(0, len(script) - 20, len(script) // 40):
        done = run(script[:length], cwd=tmp_path)
        assert done.stdout == "", length
        assert done.returncode != 0 or length < start


def test_somebody_without_rights_gets_what_there_is_to_get():
    capture = read(collector_script(), user=NOBODY if os.getuid() == 0 else None)
    assert capture.section("kernel")
    assert capture.section("ports")


def test_without_the_tools_it_says_which_are_missing(tmp_path: Path):
    for name in ("sh", "cat"):
        (tmp_path / name).symlink_to(which(name) or "")
    capture = read(
        collector_script().replace("PATH=$PATH:", "PATH=$PATH # "),
        path=str(tmp_path),
        argv=[str(tmp_path / "sh")],
    )
    missing = next(line for line in unread_lines(capture) if line.startswith("not installed"))
    assert "ip" in missing
    assert "xargs" in missing or "tr" in missing or "grep" in missing


@pytest.mark.parametrize("tool", ["timeout", "xargs", "grep"])
def test_one_tool_less_costs_no_more_than_that_tool(tmp_path: Path, tool: str):
    folders = [Path(folder) for folder in os.environ["PATH"].split(":")]
    folders += [Path("/usr/sbin"), Path("/sbin")]
    for folder in reversed(folders):
        for program in folder.iterdir() if folder.is_dir() else ():
            link = tmp_path / program.name
            if program.name != tool:
                link.unlink(missing_ok=True)
                link.symlink_to(program)
    script = collector_script().replace("PATH=$PATH:", "PATH=$PATH # ")
    capture = read(script, path=str(tmp_path))
    assert [s for s in capture.all_sections() if s.returncode == 0]
    lines = [line for line in unread_lines(capture) if line.startswith("not installed")]
    assert [line for line in lines if tool in line] or tool == "timeout"


def test_a_host_without_pci_network_or_proc_ends_well(tmp_path: Path):
    capture = read(fake_tree(tmp_path), cwd=tmp_path)
    assert not [s for s in capture.all_sections() if s.name.startswith("ethtool")]


def test_odd_names_of_netdevs_are_names_and_no_more(tmp_path: Path):
    script = fake_tree(tmp_path)
    for name in ODD_NETDEVS:
        device = tmp_path / "sys/class/net" / name / "device"
        device.mkdir(parents=True)
        (device.parent / "operstate").write_text("up\n")
    work = tmp_path / "work"
    work.mkdir()
    (work / "a file").touch()
    capture = read(script, cwd=work)
    assert [path.name for path in work.iterdir()] == ["a file"]
    assert set(capture.sections("ethtool")) == set(ODD_NETDEVS)
    ports = capture.section("ports")
    assert ports
    for name in ODD_NETDEVS:
        assert f"{name} driver=" in ports.output


LSPCI = """printf '3b:00.0 Ethernet controller: X\\n\\tCapabilities: [48] Vital Product Data\\n'
printf '\\t\\tProduct Name: CX556A - ConnectX-5 QSFP28\\n\\t\\tRead-only fields:\\n'
printf '\\t\\t\\t[PN] Part number: MCX556A-EDAT\\n\\t\\t\\t[SN] Serial number: MT1945X00360\\n'
"""
DMIDECODE = """printf '# dmidecode 3.5\\n\\nHandle 0x0040, DMI type 17, 92 bytes\\nMemory Device\\n'
printf '\\tSize: 16 GB\\n\\tLocator: DIMMA1\\n\\tType: DDR4\\n\\tType Detail: Synchronous\\n'
printf '\\tSerial Number: 037056CF\\n\\tAsset Tag: DIMMA1_AssetTag\\n\\tPart Number: M393A2\\n'
"""


def test_of_memory_and_cards_it_keeps_part_numbers_and_no_serial_number(tmp_path: Path):
    script = fake_tree(tmp_path)
    for function in ("0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0"):
        device = tmp_path / "sys/bus/pci/devices" / function
        device.mkdir(parents=True)
        (device / "class").write_text("0x020000\n")
        # A card that has no vital product data, or hangs when it is asked, has no such file.
        if function != "0000:5e:00.0":
            (device / "vpd").touch()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("lspci", LSPCI), ("dmidecode", DMIDECODE)):
        (tools / name).write_text(f"#!/bin/sh\n{text}")
        (tools / name).chmod(0o755)
    capture = read(script, path=f"{tools}:{os.environ['PATH']}", cwd=tmp_path)
    found = Hardware.parse(capture)
    assert list(found.cards) == ["0000:3b:00.0"], "one function of each card"
    assert isinstance(found.memory_modules, Known)
    assert [one.part_number for one in found.memory_modules.value] == ["M393A2"]
    said = [s.output for s in capture.all_sections() if s.name in ("card-data", "memory-modules")]
    assert "MCX556A-EDAT" in said[1] + said[0]
    assert not [text for text in said if "037056CF" in text or "MT1945X00360" in text]


def test_what_comes_first_is_the_list_of_ports():
    capture = read(collector_script())
    assert [s.name for s in capture.all_sections()][:2] == ["names", "ports"]


def test_it_waits_between_its_two_readings_only_when_asked():
    assert "sleep" not in collector_script()
    assert "\nsleep 4\n" in collector_script(4)


def test_it_writes_nothing(tmp_path: Path):
    run(collector_script(), cwd=tmp_path)
    assert not list(tmp_path.iterdir())
    writes = [
        line
        for line in collector_script().splitlines()
        if ">" in line.replace(">&", "").replace(">/dev/null", "").replace("2>&1", "")
        and not line.lstrip().startswith("#")
    ]
    assert [line for line in writes if "|| mark=" not in line and " 3>" not in line] == []


def test_a_tool_that_locks_a_card_is_given_its_time_and_the_next_one_is_not(tmp_path: Path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 6\necho whole\n")
    slow.chmod(0o755)
    script = sections_script("", f"ask_card card - {slow}\nrun other - {slow}\n")
    capture = parse_capture(run(script).stdout, "here")
    card, other = capture.section("card"), capture.section("other")
    assert card is not None and other is not None
    assert (card.returncode, card.output) == (0, "whole\n")
    assert (other.returncode, other.output) == (TIMED_OUT_RETURNCODE, "")
    # Killed in its midst, mstconfig leaves the card locked for all: no fact asks one by `run`.
    scripts = [CONTINUED.sub(" ", fact.script) for fact in facts()]
    asking = [line for one in scripts for line in one.splitlines() if " -d " in line]
    asking = [line for line in asking if '"$tool"' in line]
    assert len(asking) == 4
    assert all("ask_card" in line for line in asking)
