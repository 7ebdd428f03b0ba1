"""Where a session came from, in the words of sshd(8)."""

import pytest

from wirespeed.facts.session import Session
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
