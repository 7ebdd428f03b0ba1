"""A host's series for Prometheus: once, or over HTTP until wirespeed is stopped."""

from wirespeed.model.error import HostError, WirespeedError
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.report.export_text import families, unread
from wirespeed.runs.examine import examine
from wirespeed.terminal import echo


def diagnosed(host: str, question: Question) -> Diagnosis:
    """Read and judge one host. Raises HostError, InputError."""
    ((answer, _),) = examine([host], question)
    if isinstance(answer, Unanswered):
        raise HostError(answer.what, where=host, found=answer.found, next=answer.next)
    return answer


def serve(host: str, question: Question, address: str, port: int) -> None:
    """Serve the series of one host. Raises as `diagnosed` does if the first reading fails."""
    # Only here: the library of the server is loaded by no other command.
    from wirespeed.host.metrics_server import Families, MetricsServer, Readings

    def read() -> Families:
        try:
            return list(families(diagnosed(host, question)))
        except WirespeedError as error:
            if not is_served:
                raise
            # It may be back in a minute.
            echo(f"not read: {error.what}: {shown(error.found, 200)}", err=True)
            return list(unread())

    is_served = False
    with MetricsServer(address, port, Readings(read)) as server:
        is_served = True
        shown_address = f"[{address}]" if ":" in address else address
        echo(f"http://{shown_address}:{server.port}/metrics", err=True)
        server.wait()
