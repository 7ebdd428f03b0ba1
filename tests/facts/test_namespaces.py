"""Network namespaces by their names."""

from wirespeed.facts.namespaces import Namespaces
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Known, Observed, Unreadable


def names(text: str) -> Observed[tuple[str, ...]]:
    return Namespaces.parse(parse_capture(f"wirespeed-capture 1 mark\n{text}", "a test")).names


def test_none_is_known_and_not_the_same_as_unread():
    found = names("mark begin namespaces -\n\n\nmark end 0\n")
    assert isinstance(found, Known)
    assert found.value == ()
    assert isinstance(names(""), Unreadable)


def test_each_is_a_line():
    found = names("mark begin namespaces -\nceph-1\ngpu-1\n\nmark end 0\n")
    assert isinstance(found, Known)
    assert found.value == ("ceph-1", "gpu-1")
