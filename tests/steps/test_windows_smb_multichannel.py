"""SMB Multichannel of the client and of the server."""

import pytest
from described_windows import DescribedWindows
from proof import plan_on, prove
from samples import is_never_guessed, reason_of, section_of

from wirespeed.platforms.windows.steps.windows_smb_multichannel import WindowsSmbMultichannel

CLIENT = WindowsSmbMultichannel(end="client")
SERVER = WindowsSmbMultichannel(end="server")


def host(**off: bool) -> DescribedWindows:
    return DescribedWindows(multichannel={"Client": True, "Server": True} | off)


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        (CLIENT, host(Client=False), host()),
        (SERVER, host(Server=False), host()),
        (CLIENT, host(Client=False, Server=False), host(Server=False)),
        (WindowsSmbMultichannel(end="client", enabled=False), host(), host(Client=False)),
    ],
    ids=["client", "server", "the client alone", "off"],
)
def test_switched_and_back(
    step: WindowsSmbMultichannel, before: DescribedWindows, after: DescribedWindows
):
    prove(step, before, after)


def test_the_commands_ask_nothing():
    one = plan_on(CLIENT, host(Client=False)).steps[0]
    assert [c.line() for c in (*one.commands, *one.undo)] == [
        "Set-SmbClientConfiguration -EnableMultiChannel:$true -Force:$true",
        "Set-SmbClientConfiguration -EnableMultiChannel:$false -Force:$true",
    ]


def test_nothing_is_guessed():
    is_never_guessed(CLIENT)
    assert "0 configurations" in reason_of(CLIENT, section_of("[]"))
    assert "EnableMultiChannel" in reason_of(CLIENT, section_of('[{"EnableMultiChannel":null}]'))
