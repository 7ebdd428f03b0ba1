"""What the remedy for ESXi prints keeps the parameters that are set."""

from pathlib import Path

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Purpose, Question
from wirespeed.platforms.esxi.rules.esxi_no_vfs import RULE

CASE = Path(__file__).parent / "cases/esxi.no_vfs/present_others_are_set/capture.txt"


def test_the_command_for_vfs_of_esxi_keeps_what_else_is_set():
    capture = parse_capture(CASE.read_text(), "case")
    answer = diagnose(HostFacts("host", capture), Question(purpose=Purpose.GUESTS), [RULE])
    ((command,),) = (remedy.commands for f in answer.findings for remedy in f.remedies)
    assert command.argv[-1] == "DRSS=4 max_vfs=1,1"
