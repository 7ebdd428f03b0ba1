"""The doctor's answers as one HTML file that opens offline."""

from collections.abc import Sequence

from wirespeed import __version__
from wirespeed.model.finding import Diagnosis
from wirespeed.report.diagnosis_hosts import Answer, ranked
from wirespeed.report.diagnosis_view import headline, host_label, with_places
from wirespeed.report.environment import make_environment


def render_answers(answers: Sequence[Answer]) -> str:
    """Make the page of one host, or of many by their rank."""
    template = make_environment().get_template("diagnosis.html.j2")
    return template.render(
        answers=[with_places(a) if isinstance(a, Diagnosis) else a for a in ranked(answers)],
        headline=_headline,
        is_answer=lambda answer: isinstance(answer, Diagnosis),
        version=__version__,
    )


def _headline(answer: Answer) -> str:
    return (
        headline(answer)
        if isinstance(answer, Diagnosis)
        else f"{host_label(answer.host)}: no answer"
    )
