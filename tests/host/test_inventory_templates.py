"""Templates of an inventory: what joins variables is filled in, all else is said to be left."""

import time

import pytest

from wirespeed.host.inventory_program import Literal
from wirespeed.host.inventory_templates import MORE, Templates, UnfilledError

HOST = Templates(
    {
        "rack": "r1", "port": 2222, "up": True, "of": "sw-{{ rack }}",
        "safe": Literal("{{ rack }}"), "list": ["a"], "loop": "{{ other }}",
        "other": "x{{ loop }}", "looks": "{{ lookup(1) }}",
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("{{ port }}", 2222),
        ("{{ up }}", True),
        ("{{ rack }}:{{ port }}", "r1:2222"),
        ("{{ of }}.mgmt{# where it is #}", "sw-r1.mgmt"),
        ("{{ rack ~ '-' ~ port }}", "r1-2222"),
        ("{{ gone | default('none') | upper }}", "NONE"),
        ("{{ rack | d }}", "r1"),
        ("{{ gone | default(rack) }}", "r1"),
        ("{{ safe }}", "{{ rack }}"),
        (Literal("{{ rack }}"), "{{ rack }}"),
    ],
)
def test_a_template_that_joins_variables_is_filled_in(text: str, filled: object):
    found = HOST.fill(text)
    assert (found, type(found)) == (filled, type(filled))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{ lookup('pipe', 'id') }}", MORE),
        ("{{ looks }}", MORE),
        ("{{ looks | default('x') }}", MORE),
        ("{{ rack.__class__ }}", MORE),
        ("{{ rack['upper'] }}", MORE),
        ("{{ rack * 9 }}", MORE),
        ("{{ rack | center(9) }}", MORE),
        ("{% for one in list %}{{ one }}{% endfor %}", MORE),
        ("{% include '/etc/passwd' %}", MORE),
        ("{{ gone }}", "its host has no variable gone"),
        ("{{ list }}", "list is not text or a number"),
        ("{{ loop }}", "which needs others without end"),
        ("{{ rack", "it is not a template"),
        ("{{ rack }}" + "x" * 4096, "it has more than 4096 characters"),
        ("{{ " + "(" * 2000 + "rack" + ")" * 2000 + " }}", "it is not a template"),
    ],
)
def test_all_else_is_left_as_it_is_and_the_reason_is_given(text: str, why: str):
    with pytest.raises(UnfilledError, match=re_escaped(why)):
        HOST.fill(text)


def re_escaped(text: str) -> str:
    return text.replace("(", "\\(").replace(")", "\\)")


@pytest.mark.parametrize("refers", ["{{{{ v{n} }}}}{{{{ v{n} }}}}", "{{{{ v{n} ~ v{n} }}}}"])
@pytest.mark.parametrize("last", ["", "xxxxxxxx"])
def test_variables_that_double_from_one_to_the_next_end_soon(refers: str, last: str):
    """Each of 100 names the next hundreds of times: without bounds it would never end."""
    many = {f"v{n}": refers.format(n=n + 1) * 100 for n in range(100)}
    started = time.monotonic()
    templates = Templates({**many, "v100": last})
    for name in many:
        try:
            templates.variable(name)
        except UnfilledError as error:
            assert str(error)
    assert time.monotonic() - started < 5
