"""Where a session came from, in the words of sshd(8)."""

import subprocess

import pytest

from wirespeed.facts.session import Session
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Absent, Known, Unreadable


def peer(text: str) -> object:
    body = f"wirespeed-capture 1 case\ncase begin session -\n{text}\ncase end 0\ncase done\n"
    return Session.parse(parse_capture(body, "case")).peer


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("203.0.113.7 50022 203.0.113.1 22\n", Known("203.0.113.7", "echo $SSH_CONNECTION")),
        ("2001:db8::7 50022 2001:db8::1 22\n", Known("2001:db8::7", "echo $SSH_CONNECTION")),
        ("fe80::7%eth0 50022 fe80::1%eth0 22\n", Known("fe80::7", "echo $SSH_CONNECTION")),
        ("\n", Absent("echo $SSH_CONNECTION", "no SSH session")),
    ],
)
def test_the_address_that_it_came_from(said: str, expected: object):
    assert peer(said) == expected


def test_what_is_no_address_is_unreadable():
    assert isinstance(peer("alpha 50022 beta 22\n"), Unreadable)


def run_below(*, above: str, sudo: bool) -> object:
    """Run the collector's part as sudo does: without the variable, which `above` may have."""
    script = sections_script("# Reads.\n", "\n", Session.script)
    dropped = ["env", "-u", "SSH_CONNECTION", *(["SUDO_UID=1000"] if sudo else []), "sh", "-s"]
    # `:` after it: the shell above stays, as a login shell does.
    argv = ["env", f"SSH_CONNECTION={above}", "sh", "-c", '"$@"; :', "sh", *dropped]
    done = subprocess.run(argv, input=script, capture_output=True, text=True, check=True)
    return Session.parse(parse_capture(done.stdout, "here")).peer


def test_sudo_drops_the_variable_and_the_shell_above_it_still_has_it():
    found = run_below(above="203.0.113.7 50022 203.0.113.1 22", sudo=True)
    assert found == Known("203.0.113.7", "echo $SSH_CONNECTION")


def test_without_sudo_nobody_looks_further():
    found = run_below(above="203.0.113.7 50022 203.0.113.1 22", sudo=False)
    assert isinstance(found, Absent)


def test_what_the_processes_above_do_not_tell_is_not_known():
    assert isinstance(peer("unknown\n"), Unreadable)
