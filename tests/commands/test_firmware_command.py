"""`wirespeed firmware`, by the host's real shell, on a described card behind stand-in tools."""

import json
import os
import re
import socketserver
import stat
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner
from described_card import CARD, NEW, OLD, PSID, DescribedCard

from described.doc_sriov import as_found, ports
from described.host import Host, capture_of
from wirespeed.commands.firmware import firmware
from wirespeed.commands.undo import undo
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.error import HostError, InputError, LeftChangedError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.runs import firmware_run

TOOLS = ("mstconfig", "mstflint", "mstfwreset", "cp")
STAND_IN = """\
#!{python} -IS
# Described: what the card's tool would print is asked of the test, which has the card.
import json, socket, sys
with socket.socket(socket.AF_UNIX) as link:
    link.connect({socket!r})
    link.sendall(json.dumps([sys.argv[0].rpartition("/")[2], *sys.argv[1:]]).encode() + b"\\n")
    output, errors, code = json.loads(link.makefile().read())
sys.stdout.write(output)
sys.stderr.write(errors)
sys.exit(code)
"""
Call = Callable[..., str]


class Bench(socketserver.UnixStreamServer):
    """A host with a described card, whose tools ask here what they are to print."""

    card: DescribedCard

    def __init__(self, folder: Path) -> None:
        self.card = DescribedCard(in_force=SETTINGS.copy(), next_boot=SETTINGS.copy())
        self.copies: list[Path] = []
        self.burnt: list[str] = []
        self.swap: tuple[str, tuple[str, str]] | None = None
        """`before` or `after` the copy is made, and what another user puts in the image's place."""
        super().__init__(str(folder / "card"), Question)
        text = STAND_IN.format(python=sys.executable, socket=self.server_address)
        for name in TOOLS:
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def copied(self, image: Path, copy: Path) -> tuple[str, str, int]:
        """Copy an image, of which there is but the description."""
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
        when, other = self.swap or ("", ("", ""))
        if when == "before":
            self.card.images[str(image)] = other
        copy.touch()
        self.copies.append(copy)
        self.card.images[str(copy)] = self.card.images[str(image)]
        if when == "after":
            self.card.images[str(image)] = other
        return "", "", 0


class Question(socketserver.StreamRequestHandler):
    """One call of a tool."""

    server: Bench

    def handle(self) -> None:
        argv, card = json.loads(self.rfile.readline()), self.server.card
        if argv[0] == "cp":
            answer = self.server.copied(Path(argv[2]), Path(argv[3]))
            self.wfile.write(json.dumps(answer).encode())
            return
        if argv[-1] == "burn":
            self.server.burnt.append(card.images[argv[argv.index("-i") + 1]][1])
            # The other user puts the first one back, so that no later reading shows it.
            card.images[NEW] = DescribedCard().images[NEW]
        is_query = argv[-1] == "query" or "q" in argv
        answer = card._one(argv) if is_query else card.run(Command(argv=tuple(argv)))
        said = [answer.output, answer.errors, answer.returncode]
        self.wfile.write(json.dumps(said).encode())


SETTINGS = {"SRIOV_EN": 0, "NUM_OF_VFS": 8, "CQE_COMPRESSION": 0}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    host = Host()
    as_found(host)
    ports(host)
    facts = HostFacts("here", parse_capture(capture_of(host), "here"))
    monkeypatch.setattr(firmware_run, "facts_at", lambda _: facts)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Bench(tmp_path) as made:
        thread = Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def invoke(*words: str, code: int = 0) -> str:
        argv = [*words, "--run", str(tmp_path / "run")]
        done = CliRunner().invoke(firmware, argv, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        assert done.return_value == code, done.output
        return done.output

    return invoke


def undone(tmp_path: Path) -> None:
    done = CliRunner().invoke(undo, [str(tmp_path / "run")], standalone_mode=False)
    if done.exception is not None:
        raise done.exception


GO = ("--apply", "--yes", "--allow-firmware")


def test_settings_are_shown_stored_for_the_next_boot_and_put_back(
    bench: Bench, call: Call, tmp_path: Path
):
    words = ("--set", "SRIOV_EN=true", "--set", "NUM_OF_VFS=16", "--set", "CQE_COMPRESSION=1")
    shown = call(*words, code=1)
    line = f"mstconfig -d {CARD} -y set SRIOV_EN=1 NUM_OF_VFS=16 CQE_COMPRESSION=1"
    assert line in re.sub(r" \\\n *", " ", shown)
    assert bench.card.next_boot == SETTINGS
    assert "` undoes it" in call(*words, *GO)
    assert bench.card.next_boot == {"SRIOV_EN": 1, "NUM_OF_VFS": 16, "CQE_COMPRESSION": 1}
    assert bench.card.in_force == SETTINGS
    undone(tmp_path)
    assert bench.card.next_boot == SETTINGS


def test_what_is_stored_already_is_nothing_to_do(bench: Bench, call: Call):
    assert "0 of 1 steps to do" in call("--set", "NUM_OF_VFS=8", *GO)
    assert bench.card.next_boot == SETTINGS


def test_an_image_is_burnt_and_the_former_one_comes_back(bench: Bench, call: Call, tmp_path: Path):
    call("--image", NEW, "--former-image", OLD, *GO)
    assert (bench.card.stored, bench.card.running) == ("20.36.1010", "20.35.1012")
    undone(tmp_path)
    assert (bench.card.stored, bench.card.resets) == ("20.35.1012", 0)


@pytest.mark.parametrize("when", ["before", "after"])
def test_hostile_file_an_image_that_changes_after_it_was_read_is_not_burnt(
    bench: Bench, call: Call, when: str
):
    """Another user, who may write to it, puts another in its place around the copying."""
    bench.swap = (when, (PSID, "20.30.1"))
    if when == "before":
        with pytest.raises(WirespeedError) as caught:
            call("--image", NEW, "--former-image", OLD, *GO)
        assert "was changed since it was read" in caught.value.found
    else:
        call("--image", NEW, "--former-image", OLD, *GO)
    assert bench.burnt == ([] if when == "before" else ["20.36.1010"])
    assert bench.copies and not any(copy.parent.exists() for copy in bench.copies)


def test_an_image_with_a_reset_runs_at_once_and_undo_resets_too(
    bench: Bench, call: Call, tmp_path: Path
):
    words = ("--image", NEW, "--former-image", OLD, "--reset")
    call(*words, *GO, "--allow-cutoff")
    assert bench.card.running == "20.36.1010"
    undone(tmp_path)
    assert (bench.card.running, bench.card.resets) == ("20.35.1012", 2)


def test_a_reset_alone_brings_what_waits_and_says_that_nothing_takes_it_back(
    bench: Bench, call: Call, tmp_path: Path
):
    bench.card = DescribedCard(in_force={"NUM_OF_VFS": 8}, next_boot={"NUM_OF_VFS": 16})
    with pytest.raises(InputError) as caught:
        call("--reset", *GO, "--allow-cutoff")
    assert caught.value.what == "plan.no_way_back"
    said = call("--reset", *GO, "--allow-cutoff", "--allow-no-undo")
    assert f"cannot be undone: firmware_reset {CARD}" in said and "` undoes it" not in said
    assert bench.card.in_force == {"NUM_OF_VFS": 16}
    with pytest.raises(LeftChangedError):
        undone(tmp_path)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--set", "NUM_OF_VFS=16", "--apply", "--yes"), "plan.writes_firmware"),
        (("--image", NEW, *GO), "plan.no_way_back"),
        (("--image", "/srv/absent.bin", *GO), "firmware.unreadable"),
        (("--image", "relative.bin"), "options.invalid"),
        (("--image", "/srv/../etc/x.bin"), "options.invalid"),
        (("--image", NEW, "--former-image", NEW), "options.invalid"),
        (("--former-image", OLD), "options.invalid"),
        (("--set", "NUM_OF_VFS=x"), "options.invalid"),
        (("--set", "NUM_OF_VFS=70000"), "options.invalid"),
        (("--set", "SECURE_BOOT=0"), "options.invalid"),
        (("--set", "NUM_OF_VFS=4", "--reset"), "options.invalid"),
        (("--port", "eth0", "--set", "NUM_OF_VFS=4"), "options.invalid"),
        (("--port", "0000:99:00.0", "--set", "NUM_OF_VFS=4"), "firmware.no_card"),
        ((), "options.invalid"),
    ],
)
def test_what_is_not_allowed_or_not_there_is_refused_before_anything_is_written(
    bench: Bench, call: Call, words: tuple[str, ...], what: str
):
    before = deepcopy(bench.card)
    with pytest.raises(WirespeedError) as caught:
        call(*words)
    assert caught.value.what == what
    assert bench.card == before


def test_an_image_of_another_card_is_not_burnt(bench: Bench, call: Call):
    bench.card.images[NEW] = ("DEL0000000027", "20.36.1010")
    with pytest.raises((InputError, HostError)) as caught:
        call("--image", NEW, "--former-image", OLD, *GO)
    assert "DEL0000000027" in caught.value.found
    assert bench.card.stored == "20.35.1012"


SECOND = "0000:af:00.0"
PORTS = "".join(
    f"eth{number} driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/{address}\n"
    for number, address in enumerate((CARD, "0000:03:00.1", SECOND))
)


def test_of_two_cards_one_has_to_be_named():
    section = Section("ports", "", PORTS, "", 0)
    facts = HostFacts("alpha", Capture([section], complete=True))
    with pytest.raises(InputError) as caught:
        firmware_run.card_of(facts, "")
    assert caught.value.what == "firmware.no_card" and SECOND in caught.value.found
    assert firmware_run.card_of(facts, SECOND).functions == ()
    of_either_port = [firmware_run.card_of(facts, port) for port in (CARD, "0000:03:00.1")]
    assert [(one.pci_address, one.functions) for one in of_either_port] == [
        (CARD, ("0000:03:00.1",))
    ] * 2
