"""A real guest that nobody described: one H200 passed through, one adapter of virtio, no ethtool.

Read by the collector as root within a container, and made anonymous:

sh collector.sh >host.txt; wirespeed capture host.txt --anonymous --out gpu-guest.txt
"""

from pathlib import Path

from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.accelerators import Accelerators
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Known
from wirespeed.model.question import Purpose, Question
from wirespeed.report.diagnosis_text import diagnosis_lines

SAMPLE = Path(__file__).parents[1] / "facts/samples/captures/gpu-guest.txt"


def host() -> HostFacts:
    return HostFacts("gpu", parse_capture(SAMPLE.read_text(), "gpu"))


def test_what_was_read_of_it_is_what_other_tools_showed():
    """nvidia-smi: one GPU at 00:06.0. lscpu: 16 CPUs of one node, one thread each."""
    facts = host()
    found = facts[Accelerators].found
    assert isinstance(found, Known)
    assert [one.address for one in found.value] == ["0000:00:06.0"]
    assert len(facts[Cpus].by_number) == 16
    assert facts[Virtualization].is_guest == Known(True, facts[Virtualization].guest_of.source)


def test_nothing_is_found_of_it_that_is_not_so():
    for purpose in (None, *Purpose):
        answer = diagnose(host(), Question(purpose=purpose))
        assert not answer.faults
        # No card is seen, so none of these can be said.
        assert not {
            f.rule for f in answer.findings if f.rule.startswith(("pcie.", "peers.", "link."))
        }


def test_its_answer_begins_with_the_one_queue_that_its_16_cpus_share():
    """`ls /sys/class/net/eth0/queues` there: rx-0 and tx-0 alone."""
    answer = diagnose(host(), Question())
    above = [(f.rule, f.where) for f in answer.findings if f.severity is not Severity.NOTE]
    assert above == [("queues.one_for_many_cpus", "eth0")]
    first = next(diagnosis_lines(answer)).text
    assert first.startswith("gpu: eth0: Guest's adapter with fewer queues than CPUs (1 queue, and")
    text = "\n".join(line.text for line in diagnosis_lines(answer))
    assert "nothing holds" not in text
