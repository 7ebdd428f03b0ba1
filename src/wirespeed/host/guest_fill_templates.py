"""Fills in the templates of a fleet's specs, in a process of its own, which ends when time is up.

A template is a program: a loop within a loop never ends, and a text times 10**10 fills the memory.
Standard input: JSON with `path` (where Jinja2 is found), `bytes` (of memory) and `jobs`. Standard
output: for each a text, or why there is none.
"""

import json
import resource
import sys
from typing import Any, NoReturn

asked = json.load(sys.stdin)
sys.path[:] = asked["path"]
resource.setrlimit(resource.RLIMIT_AS, (asked["bytes"],) * 2)

from jinja2 import StrictUndefined, TemplateError, TemplateRuntimeError  # noqa: E402
from jinja2.sandbox import SandboxedEnvironment  # noqa: E402

FAULTS = (
    TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What a template raises."""


class Unfilled:
    """A variable that only Ansible could fill in: an error where a spec uses it, and not before.

    Unlike an undefined one it has no default.
    """

    def __init__(self, name: str, found: str) -> None:
        self._error = f"{name} is a template that only Ansible could fill in: {found}"

    def _refuse(self, *_: object) -> NoReturn:
        raise TemplateRuntimeError(self._error)

    __str__ = __bool__ = __int__ = __float__ = __len__ = __iter__ = __getitem__ = _refuse
    __eq__ = __hash__ = __add__ = __radd__ = _refuse


def filled_in(job: dict[str, Any]) -> dict[str, str]:
    """Give the text of one job, or the error."""
    unfilled = {name: Unfilled(name, why) for name, why in job["unfilled"].items()}
    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    try:
        made = environment.from_string(job["template"]).render({**unfilled, **job["variables"]})
    except (
        TemplateError,
        ArithmeticError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as e:
        return {"error": str(e)}
    except MemoryError:
        return {"error": "it takes more memory than a spec may"}
    return {"text": made}


json.dump([filled_in(job) for job in asked["jobs"]], sys.stdout)
