"""What --anonymous goes through: as long as a host's own capture, and no more of it replaced."""

import random
from collections.abc import Callable

import pytest

from hostile_reader import is_in_time, seconds_of
from wirespeed.doctor.anonymous import MAX_CHARACTERS, anonymous
from wirespeed.doctor.anonymous_marks import MOST_REPLACED
from wirespeed.doctor.anonymous_patterns import LABEL_WORDS, LABELLED
from wirespeed.model.error import InputError

pytestmark = [pytest.mark.rare, pytest.mark.timeout(120)]
KEY = b"a key for tests, of thirty-two b"
DRAWN = random.Random(2)
LENGTH = MAX_CHARACTERS - 200


def digits(count: int) -> str:
    return "".join(DRAWN.choices("0123456789abcdef", k=count))


def of(section: str, unit: str | Callable[[], str], before: str = "", after: str = "") -> str:
    """Fill a section with one text again and again, or with a new one each time."""
    if isinstance(unit, str):
        body = unit * (LENGTH // len(unit))
    else:
        body = "".join(unit() for _ in range(LENGTH // len(unit())))
    text = f"m-12 begin {section} -\n{before}{body}"[: LENGTH - len(after)] + after
    return f"wirespeed-capture 1 m-12\n{text}\n\nm-12 end 0\nm-12 done\n"


SHAPES: dict[str, Callable[[], str]] = {
    "zeros": lambda: of("modules", "0"),
    "words": lambda: of("modules", lambda: digits(5) + " "),
    "a label again and again": lambda: of("modules", "serial: "),
    "labels": lambda: of("modules", lambda: f"serial: {digits(6)}\n"),
    "colons": lambda: of("modules", ":" * 3999 + " "),
    "dots": lambda: of("modules", "a." * 1999 + " "),
    "names of hosts": lambda: of("modules", lambda: f"{digits(5)}.com "),
    "addresses": lambda: of("modules", lambda: f"1.{int(digits(2), 16)}.{int(digits(2), 16)}.7 "),
    "long addresses": lambda: of("modules", lambda: ":".join([digits(4) for _ in range(8)]) + " "),
    "paths": lambda: of("modules", lambda: f"/x{digits(4)} "),
    "texts of JSON": lambda: of("ip-link", lambda: f'{{"x":"{digits(6)}"}},', "[", "{}]"),
    "neighbours": lambda: of("switch-lldp", lambda: digits(6) + "  "),
    "processes": lambda: of("threads", lambda: f"/proc/1/task/1/stat:1 ({digits(6)}) a 1 1\n"),
    "Open vSwitch": lambda: of(
        "ovs-db", lambda: f'["{digits(6)}"],', '{"headings":["a"],"data":[', "[]]}"
    ),
    "one command line": lambda: of("kernel", lambda: digits(6) + " ", "/proc/cmdline:"),
    "a crash": lambda: of("crash-analysis", "a" * 199 + "\n"),
    "sections": lambda: (
        "wirespeed-capture 1 m-12\n"
        + "".join(f"m-12 begin x{n} -\na\n\nm-12 end 0\n" for n in range(LENGTH // 36))
        + "m-12 done\n"
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_as_long_as_may_be_is_made_anonymous_in_time(shape: str):
    text = SHAPES[shape]()
    assert 0.8 * MAX_CHARACTERS < len(text) <= MAX_CHARACTERS

    def work() -> None:
        try:
            anonymous(text, "a file", KEY)
        except InputError as refused:
            assert refused.what == "capture.too_large"

    assert is_in_time(seconds_of(work))


def test_a_hostile_file_has_more_addresses_than_any_host():
    text = of("modules", lambda: f"10.{int(digits(2), 16)}.{int(digits(2), 16)}.7 ")
    with pytest.raises(InputError) as refused:
        anonymous(text, "a file", KEY)
    assert refused.value.found == f"more than {MOST_REPLACED} names and addresses"


@pytest.mark.parametrize("key", [
    "vendor sn", "serial", "serial no", "serial_number", "SerialNumber", "board.serial", "s/n",
    "asset tag", "AssetTag", "service tag", "system-id", "hostname", "kernel.host-name",
    "domainname", "nodename", "ifalias", "machine-id", "boot_id", "user", "SUDO_USER", "LOGNAME",
    "vm-uuid", "vm-id", "VMName", "iface-id",
])  # fmt: skip
def test_a_label_holds_one_of_the_words_that_a_text_with_labels_has(key: str):
    """The search for labels is left out where none of these words stands."""
    assert LABELLED.search(f"{key}: planted") is not None
    assert any(word in key.lower() for word in LABEL_WORDS)
