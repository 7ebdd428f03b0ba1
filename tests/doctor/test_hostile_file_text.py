"""Texts of hosts and tools in the worst shape of an expression of ours: read in linear time."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from time import process_time

import pytest

import wirespeed
from hostile_reader import is_in_time, seconds_of
from wirespeed.doctor.anonymous import anonymous
from wirespeed.doctor.measured_file import parse_measured
from wirespeed.facts.dcb import Dcb
from wirespeed.facts.firmware import HEADER
from wirespeed.facts.lockdown import BYTES
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError

pytestmark = pytest.mark.timeout(40)
"""What takes the square of its length is stopped here."""
KEY = b"a key for tests, of thirty-two b"
LENGTH = 1_000_000


def capture(name: str, body: str) -> str:
    return f"wirespeed-capture 1 m-12\nm-12 begin {name} -\n{body}\n\nm-12 end 0\nm-12 done\n"


def words(unit: str) -> str:
    """Give words of 4,000 characters, which are not taken for too long."""
    word = unit * (4000 // len(unit)) + " "
    return word * (LENGTH // 4000)


SECRETS = {
    "a name of a netdev with 40 zeros": ("ip-link", '{"x":"eth' + "0" * 40 + '!"}'),
    "long words": ("modules", words("a")),
    "words of colons": ("modules", words(":")),
    "lists of names that do not end": ("ip-link", '"altnames":[' * (LENGTH // 12)),
    "a name that does not end": ("ip-link", '"altnames":["' + '\\"' * (LENGTH // 2) + "]"),
    "a crash of letters": ("crash-analysis", ("a" * 199 + "\n") * (LENGTH // 200)),
    "a setting of blanks": (
        "windows-wslconfig", '{"Text": "a = a' + " " * (LENGTH // 2) + 'b"}',
    ),
    "a serial number of a megabyte": ("modules", "serial: " * (LENGTH // 8)),
}  # fmt: skip


@pytest.mark.parametrize("shape", SECRETS)
def test_a_hostile_file_is_made_anonymous(shape: str):
    text = capture(*SECRETS[shape])
    assert is_in_time(seconds_of(lambda: anonymous(text, "a file", KEY)))


def test_a_hostile_file_learns_a_name_in_each_section():
    """What finds names was made again for each."""
    sections = "".join(
        f'm-12 begin ip-link -\n{{"ifname":"mine{number}"}}\n\nm-12 end 0\n'
        for number in range(2000)
    )
    text = f"wirespeed-capture 1 m-12\n{sections}m-12 done\n"
    assert is_in_time(seconds_of(lambda: anonymous(text, "a file", KEY)))


def test_a_hostile_file_has_5000_names_that_begin_alike():
    names = ",".join(f'{{"ifname":"aaa{number:05}"}}' for number in range(4900))
    text = capture("ip-link", f"[{names}]" + "aaa " * (LENGTH // 4))
    made: list[str] = []
    assert is_in_time(seconds_of(lambda: made.append(anonymous(text, "a file", KEY))))
    assert "aaa0" not in made[0]


def test_a_hostile_file_has_more_names_than_can_be_looked_for():
    names = ",".join(f'{{"ifname":"mine{number}"}}' for number in range(10_001))
    with pytest.raises(InputError) as caught:
        anonymous(capture("ip-link", f"[{names}]"), "a file", KEY)
    assert caught.value.what == "capture.too_large"


MEASURED = {
    "deep lists": '{"a":' + "[" * LENGTH,
    "objects": "{}\n" * (LENGTH // 3),
    "events": '{"event":"x","data":{}} ' * (LENGTH // 24),
    "lines without netperf's row": "10^6bits/sec\n" + "\n" * LENGTH,
    "blanks behind netperf's unit": "Okay Errors\n10^6bits/sec" + " " * LENGTH,
    "netperf's unit again and again": "Okay Errors\n" + "10^6bits/sec " * (LENGTH // 13),
    "lines without qperf's row": "\n" * LENGTH,
    "digits": "Summary: BandWidth is " + "1" * LENGTH,
    "5 MB": " " * (5 << 20),
}


@pytest.mark.parametrize("shape", MEASURED)
def test_a_hostile_file_is_what_a_tool_printed(shape: str):
    def parse() -> None:
        with pytest.raises(InputError) as caught:
            parse_measured(MEASURED[shape], "a file")
        assert caught.value.what in ("measured_by.no_figure", "measured_by.unknown")

    assert is_in_time(seconds_of(parse))


def of_lines() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Give every expression of a module that begins anew at each line."""
    for module in pkgutil.walk_packages(wirespeed.__path__, "wirespeed."):
        if ".migrations" in module.name or ".guest_" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and value.flags & re.M:
                yield f"{module.name}.{name}", value


def test_no_expression_of_lines_takes_the_square_of_empty_ones():
    r"""`^\s*` does: it goes on to the end of the text from each line."""
    slow, empty = [], "\n" * 40_000

    def search_all() -> None:
        for name, pattern in of_lines():
            started = process_time()
            pattern.search(empty)
            if process_time() - started > 0.3:
                slow.append(name)

    # Once: to set aside what earlier tests left in memory takes longer than a search.
    seconds_of(search_all)
    assert not slow


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (HEADER, "Configurations:" + " " * LENGTH + "\1"),
        (BYTES, "0" * LENGTH),
    ],
    ids=["mstconfig", "lockdown"],
)
def test_a_hostile_file_has_a_line_of_a_megabyte(pattern: re.Pattern[str], text: str):
    assert is_in_time(seconds_of(lambda: (pattern.search(text[:-1]), pattern.fullmatch(text))))


def test_a_hostile_file_has_a_word_of_a_megabyte_for_dcb():
    ports = "eth0 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/0000:03:00.0"
    listed = capture("dcb-app", "dscp-prio " + ":" * LENGTH).replace("dcb-app -", "dcb-app eth0")
    text = listed.replace("m-12 done", f"m-12 begin ports -\n{ports}\n\nm-12 end 0\nm-12 done")
    assert is_in_time(seconds_of(lambda: Dcb.parse(parse_capture(text, "a file"))))
