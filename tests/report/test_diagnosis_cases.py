"""Every case of every rule in every form of the answer: what is found is said, and it fits."""

import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.question import Question
from wirespeed.report.diagnosis_document import diagnosis_document
from wirespeed.report.diagnosis_hosts import json_line, summary_lines
from wirespeed.report.diagnosis_text import diagnosis_lines
from wirespeed.report.document_html import render_html
from wirespeed.report.text_lines import columns_of

from .pages import PageReader

CASES = Path(__file__).parents[1] / "rules/cases"
RULES = sorted(path.name for path in CASES.iterdir())


@cache
def answers(slug: str) -> tuple[Diagnosis, ...]:
    """What all rules say of the cases of one."""
    found = []
    for folder in sorted((CASES / slug).iterdir()):
        expected = json.loads((folder / "expected.json").read_text())
        capture = parse_capture((folder / "capture.txt").read_text(), folder.name)
        question = Question(**expected.get("question", {}))
        found.append(diagnose(HostFacts(folder.name, capture), question))
    return tuple(found)


@pytest.mark.parametrize("slug", RULES)
def test_the_terminal_says_what_was_found_within_80_columns(slug: str):
    for answer in answers(slug):
        lines = list(diagnosis_lines(answer, verbose=True))
        wide = [line for line in lines if columns_of(line.text) > 80]
        # Only one word of a command, which would be another one if it were cut, may be wider.
        assert [line for line in wide if line.tone != "command"] == []
        assert [line for line in wide if len(shlex.split(line.text.rstrip("\\"))) > 2] == []
        text = "\n".join(line.text for line in lines)
        roots = {number: cause for cause in answer.causes for number in cause.findings}
        for number, finding in enumerate(answer.findings):
            severity = roots[number].severity if number in roots else finding.severity
            assert re.search(rf" {severity.upper()} {re.escape(finding.rule)}\s", text)
        for line in summary_lines([answer]):
            assert columns_of(line.text) <= 80


@pytest.mark.parametrize("slug", RULES)
def test_json_gives_the_answer_back(slug: str):
    for answer in answers(slug):
        assert Diagnosis.model_validate_json(json_line(answer)) == answer


@pytest.mark.parametrize("slug", RULES)
def test_the_page_says_what_was_found(slug: str):
    reader = PageReader(render_html(diagnosis_document(answers(slug))))
    assert not {"script", "img"} & set(reader.tags)
    for answer in answers(slug):
        for finding in answer.findings:
            assert finding.rule in reader.text
            for remedy in finding.remedies:
                for command in remedy.commands:
                    assert command.line() in reader.text


@pytest.mark.parametrize("slug", RULES)
def test_no_rule_stumbles_over_the_case_of_another(slug: str):
    for answer in answers(slug):
        assert answer.faults == ()
