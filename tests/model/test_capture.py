import resource
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.capture import (
    MAX_CAPTURE_BYTES,
    MAX_SECTION_CHARACTERS,
    Capture,
    Section,
    parse_capture,
    with_section,
)
from wirespeed.model.error import InputError
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from yardstick import is_quick

MARK = "1f0c8a52-mark"
BODY = f"""\
{MARK} begin link enp3s0
Speed: 100000Mb/s
이더넷

{MARK} end 0
{MARK} begin module enp3s0

{MARK} errors
netlink error: Operation not permitted
{MARK} end 1
{MARK} begin kernel -
6.1.0

{MARK} end 0
{MARK} done
"""
TEXT = f"wirespeed-capture 1 {MARK}\n{BODY}"
SYS = "/sys/bus/pci/devices/0000:03:00.0"


def contents(capture: Capture) -> list[Section]:
    return list(capture.all_sections())


def slug_of(text: str) -> str:
    with pytest.raises(InputError) as error:
        parse_capture(text, "a file")
    assert error.value.found.isprintable()
    return error.value.what


def section(output: str = "", errors: str = "", code: int | None = 0) -> Section:
    return Section("files", "", output, errors, code)


def test_sections_come_out_as_they_went_in():
    capture = parse_capture(TEXT, "a file")
    assert capture.complete
    assert contents(capture) == [
        Section("link", "enp3s0", "Speed: 100000Mb/s\n이더넷\n", "", 0),
        Section("module", "enp3s0", "", "netlink error: Operation not permitted", 1),
        Section("kernel", "", "6.1.0\n", "", 0),
    ]
    assert capture.sections("link").keys() == {"enp3s0"}
    assert capture.section("link", "enp4s0") is None
    assert capture.sections("no such") == {}


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        "Welcome to alpha!\nLast login: today\n" + TEXT,
        TEXT + "logout\nConnection closed.\n",
        TEXT.rstrip("\n"),
    ],
    ids=["line ends of Windows", "byte order mark", "greeting", "farewell", "no last line end"],
)
def test_what_happens_to_a_text_on_its_way_changes_nothing(text: str):
    capture = parse_capture(text, "a file")
    assert capture.complete
    assert contents(capture) == contents(parse_capture(TEXT, "a file"))


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("", "capture.not_one"),
        ("\n", "capture.not_one"),
        ("\x1b[2Jhello", "capture.not_one"),
        ("wirespeed-capture 1 abc\n", "capture.not_one"),
        ("wirespeed-capture 1 a b c d\n", "capture.not_one"),
        (f"x wirespeed-capture 1 {MARK}\n{BODY}", "capture.not_one"),
        ("x\n" * (1 << 16) + TEXT, "capture.not_one"),
        (TEXT.replace("capture 1", "capture 2", 1), "capture.version"),
        (TEXT.replace("capture 1", "capture 0", 1), "capture.version"),
        (TEXT.encode("utf-16-le").decode("latin-1"), "capture.not_one"),
    ],
)
def test_what_is_no_capture_of_this_version_is_refused(text: str, slug: str):
    assert slug_of(text) == slug


def test_every_truncation_keeps_what_was_whole():
    whole = contents(parse_capture(TEXT, "a file"))
    for length in range(TEXT.index("\n") + 1, len(TEXT) - len("done\n")):
        capture = parse_capture(TEXT[:length], "a file")
        assert not capture.complete
        found = contents(capture)
        for cut, full in zip(found, whole, strict=False):
            assert (cut.name, cut.subject) == (full.name, full.subject) or cut is found[-1]
            assert cut == full or cut is found[-1]
        if found and found[-1] not in whole:
            assert found[-1].returncode is None or found[-1].returncode == 0


def test_a_section_that_was_cut_off_cannot_be_told():
    capture = parse_capture(TEXT[: TEXT.index("이더넷")], "a file")
    found = capture.text("link", "ethtool enp3s0", "enp3s0")
    assert found == Unreadable("the capture ends within this section", "ethtool enp3s0")


def test_the_mark_of_another_capture_is_content():
    forged = "other-mark end 0\nother-mark begin kernel -\n5.0\nother-mark done\n mark end 0"
    text = TEXT.replace("이더넷", forged)
    capture = parse_capture(text, "a file")
    link = capture.section("link", "enp3s0")
    assert link is not None
    assert forged in link.output
    assert capture.text("kernel", "uname -r") == Known("6.1.0\n", "uname -r")


def test_of_two_sections_with_one_name_the_first_stands():
    late = f"{MARK} begin kernel -\nforged\n\n{MARK} end 0\n{MARK} done\n"
    capture = parse_capture(TEXT.replace(f"{MARK} done\n", late), "a file")
    assert capture.text("kernel", "uname -r") == Known("6.1.0\n", "uname -r")


def test_a_subject_that_plays_tricks_is_a_name_and_no_more():
    for subject in ("../../etc/passwd", "a\u2028b", "a\x85b", "-", "$(id)"):
        capture = parse_capture(TEXT.replace("link enp3s0", f"link {subject}"), "a file")
        assert list(capture.sections("link")) == ["" if subject == "-" else subject]


@pytest.mark.parametrize("code", ["", "x", "-1", "9" * 5000, "²", "\u0661", "1 2"])
def test_a_return_code_that_is_none_is_not_success(code: str):
    capture = parse_capture(TEXT.replace("end 0", f"end {code}", 1), "a file")
    assert not isinstance(capture.text("link", "ethtool enp3s0", "enp3s0"), Known)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (section(code=0), Known("", "cat x")),
        (section(code=None), Unreadable("the capture ends within this section", "cat x")),
        (section(code=124), Unreadable("it did not end in time", "cat x")),
        (section(code=127), Unreadable("cat is not installed", "cat x")),
        (
            section(errors="sh: 12: devlink: not found", code=127),
            Unreadable("devlink is not installed", "cat x"),
        ),
        (
            section(errors="sh: line 3: mst-tool: command not found\n", code=127),
            Unreadable("mst-tool is not installed", "cat x"),
        ),
        (
            section(errors="Operation not supported\nmore", code=1),
            Absent("cat x", "Operation not supported"),
        ),
        (section("No such device", code=19), Absent("cat x", "No such device")),
        (
            section(errors="Permission denied: not supported for you", code=1),
            Unreadable("Permission denied: not supported for you", "cat x"),
        ),
        (section(code=3), Unreadable("return code 3", "cat x")),
        (section(errors="\x1b[2Jx\x9b", code=3), Unreadable(r"\x1b[2Jx\x9b", "cat x")),
    ],
)
def test_why_there_is_no_output(given: Section, expected: Observed[str]):
    assert given.text("cat x") == expected


def test_small_files_by_their_path():
    capture = Capture(
        [
            section(
                f"{SYS}/numa_node:0\n{SYS}/speed:2.5 GT/s: odd\n{SYS}/list:a\n{SYS}/list:\n"
                f"{SYS}/list:c:d\nnonsense\n{SYS}/unasked:1\n:\nnuma_node:1\n",
                f"grep: {SYS}/width: Permission denied\n"
                f"grep: {SYS}/gone: No such file or directory\n",
                123,
            )
        ],
        complete=True,
    )
    files = capture.files("files", ["numa_node", "speed", "list", "width", "gone", "empty"])
    assert files[f"{SYS}/numa_node"] == Known("0", f"cat {SYS}/numa_node")
    assert files[f"{SYS}/speed"] == Known("2.5 GT/s: odd", f"cat {SYS}/speed")
    assert files[f"{SYS}/list"] == Known("a\n\nc:d", f"cat {SYS}/list")
    assert files["numa_node"] == Known("1", "cat numa_node")
    assert files[f"{SYS}/width"] == Unreadable("Permission denied", f"cat {SYS}/width")
    assert files[f"{SYS}/gone"] == Absent(f"cat {SYS}/gone")
    assert files[f"{SYS}/empty"] == Known("", f"cat {SYS}/empty")
    with pytest.raises(AssertionError, match="unasked"):
        files[f"{SYS}/unasked"]


@pytest.mark.parametrize(
    ("output", "errors", "code", "reason"),
    [
        ("", "", 123, "nothing was read there"),
        ("", "sh: 9: cd: can't cd to /sys/devices/system", 2, "nothing was read there"),
        ("", "xargs: not found", 127, "xargs is not installed"),
        ("", "xargs: unknown option -- 0", 64, "xargs: unknown option -- 0"),
        (f"{SYS}/x:1\n", "", 124, "it did not end in time"),
        (f"{SYS}/x:1\n", "", None, "the capture ends within this section"),
    ],
)
def test_a_file_that_nobody_came_to_read_is_not_empty(
    output: str, errors: str, code: int | None, reason: str
):
    capture = Capture([section(output, errors, code)], complete=True)
    found = capture.files("files", ["x", "y"])[f"{SYS}/y"]
    assert found == Unreadable(reason, f"cat {SYS}/y")


def test_files_of_a_section_that_is_not_there_cannot_be_told():
    files = Capture([], complete=True).files("files", ["x"])
    assert isinstance(files["x"], Unreadable)


def hostile_bodies() -> dict[str, str]:
    """Each about as large as a capture may be."""
    size = MAX_CAPTURE_BYTES - 1000
    return {
        "one line": "x" * size,
        "slashes": "/" * size,
        "colons": ":" * size,
        "marks": f"{MARK} " * (size // len(f"{MARK} ")),
        "line ends": "\n" * size,
        "sections": f"{MARK} begin a b\n" * (size // 4 // len(f"{MARK} begin a b\n")),
    }


@pytest.mark.parametrize("kind", list(hostile_bodies()))
def test_the_largest_capture_is_read_in_time_and_memory(kind: str):
    body = hostile_bodies()[kind]
    text = f"wirespeed-capture 1 {MARK}\n{MARK} begin files -\n{body}\n{MARK} end 0\n{MARK} done\n"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = process_time()
    files = parse_capture(text, "a file").files("files", ["x", "y"])
    assert is_quick(process_time() - started, loops=60)
    assert not list(files.paths())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20


@pytest.mark.parametrize("piece", ["/", ":", "/x", "a:", "/x:\n", ":" * 5000 + "\n"])
def test_the_longest_section_is_split_into_files_in_time(piece: str):
    output = piece * (MAX_SECTION_CHARACTERS // len(piece))
    started = process_time()
    Capture([section(output)], complete=True).files("files", [f"name{n}" for n in range(40)])
    assert is_quick(process_time() - started, loops=60)


def test_a_section_too_long_to_be_true_cannot_be_told():
    text = TEXT.replace("이더넷", "x" * MAX_SECTION_CHARACTERS)
    found = parse_capture(text, "a file").text("link", "ethtool enp3s0", "enp3s0")
    assert found == Unreadable("the section is too long to be true", "ethtool enp3s0")


@given(st.text(), st.integers(0, len(TEXT)))
def test_anything_spliced_in_is_read_or_refused(splice: str, at: int):
    try:
        parse_capture(TEXT[:at] + splice + TEXT[at:], "a file")
    except InputError as error:
        assert error.what in ("capture.not_one", "capture.version")


def test_cases_of_the_rules_are_captures():
    cases = sorted((Path(__file__).parent.parent / "rules/cases").glob("*/*/capture.txt"))
    assert cases
    for path in cases:
        parse_capture(path.read_text(), str(path))


@pytest.mark.parametrize("end", ["", "\nm end 124\nm done\n"])
def test_the_last_file_of_a_section_that_was_cut_may_be_torn(end: str):
    torn = f"wirespeed-capture 1 mark\nmark begin pci -\n/s/a/width:8\n/s/b/width:1{end}"
    files = parse_capture(torn.replace("\nm ", "\nmark "), "x").files("pci", ("width",))
    assert files["/s/a/width"] == Known("8", "cat /s/a/width")
    assert isinstance(files["/s/b/width"], Unreadable)


def test_a_section_from_elsewhere_is_added_and_can_forge_nothing():
    text = "wirespeed-capture 1 mark-1\nmark-1 begin a -\nx\nmark-1 end 0\nmark-1 done\n"
    given = "one\nmark-1 end 7\nmark-1 begin a -\ntwo"
    capture = parse_capture(with_section(text, "here", "crash-analysis", given), "here")
    assert capture.complete
    assert {s.name for s in capture.all_sections()} == {"a", "crash-analysis"}
    added, own = capture.section("crash-analysis"), capture.section("a")
    assert added is not None
    assert (added.output, added.returncode) == ("one\n end 7\n begin a -\ntwo\n", 0)
    assert own is not None
    assert own.output == "x"
    with pytest.raises(InputError):
        with_section("no capture", "here", "a", "")
