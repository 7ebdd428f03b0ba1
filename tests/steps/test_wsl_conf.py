"""A key of /etc/wsl.conf."""

import pytest
from described_files import DescribedFiles
from proof import plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of, state_of

from wirespeed.platforms.wsl.steps.wsl_conf import WslConf

STEP = WslConf(section="boot", key="command", value="sh /etc/wirespeed-wsl2.sh", reason="it lasts")
PATH = "/etc/wsl.conf"


class Described(DescribedFiles):
    """A kill may leave the file that is written beside: under a name that nothing reads."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Described) and self.files.get(PATH) == other.files.get(PATH)


def host(text: str | None) -> Described:
    return Described({} if text is None else {PATH: text})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "[boot]\ncommand=sh /etc/wirespeed-wsl2.sh\n"),
        (
            "# mine\n[automount]\nroot = /\n\n[boot]\nsystemd=false # no\n",
            "# mine\n[automount]\nroot = /\n\n[boot]\nsystemd=false # no\n"
            "command=sh /etc/wirespeed-wsl2.sh\n",
        ),
        (
            "[network]\nhostname=x",
            "[network]\nhostname=x\n[boot]\ncommand=sh /etc/wirespeed-wsl2.sh\n",
        ),
    ],
)  # fmt: skip
def test_the_key_comes_and_goes_and_all_else_stays(before: str | None, after: str):
    prove(STEP, host(before), host(after))


def test_somebodys_own_command_is_not_taken_away():
    text = "[boot]\ncommand = service docker start\n"
    assert "another command" in reason_of(STEP, section_of(text))
    assert state_of(STEP, section_of(text.replace("boot", "other")))


@pytest.mark.parametrize("line", ["; mine", "[boot] x", "systemd", 'options = "a', "x = C:\\dir"])
def test_a_key_after_a_line_that_wsl_cannot_read_would_not_be_read(line: str):
    """WslDistributionConfig.cpp: without CFG_SKIP_INVALID_LINES the parser ends at such a line."""
    reason = reason_of(STEP, section_of(f"# mine\n{line}\n[network]\nhostname=x\n"))
    assert "cannot read line 2" in reason
    assert state_of(STEP, section_of(f"[boot]\nsystemd=false # no\n\n[network]\n{line}\n"))


def test_the_commands_write_beside_and_rename():
    planned = plan_on(STEP, host("[boot]\n")).steps[0]
    assert [c.argv[0] for c in planned.commands] == ["cp", "tee", "sync", "mv", "sync"]


@pytest.mark.parametrize("value", ["", "a\nb", "rm -rf / ; x", "a  b", "$HOME", "a # b"])
def test_what_is_more_than_words_is_refused(value: str):
    with pytest.raises(ValidationError):
        WslConf(section="boot", key="command", value=value, reason="x")
