"""`esxi://`: the script for ESXi goes to its shell over SSH, and no other script does."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sshd import Home, Sshd, free_port

from wirespeed.host.capture_request import Captured, CaptureRequest, Unreachable
from wirespeed.host.reach_destination import EsxiHost, Remote, parse_destination
from wirespeed.model.error import InputError
from wirespeed.runs.hosts_of_spec import _runner, lone_host
from wirespeed.runs.reach import reach

REQUEST = CaptureRequest(script="echo begin linux\n", esxi="echo begin esxi\n", begins="begin")


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sshd, Home]]:
    home = Home(tmp_path_factory.mktemp("user") / "home")
    made = Sshd(tmp_path_factory.mktemp("sshd") / "server", home.key)
    home.add_host("lab*", made.port)
    home.known_hosts.write_text(made.known_as())
    yield made, home
    made.close()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("esxi://vmhost", EsxiHost("esxi://vmhost", "vmhost")),
        ("esxi://root@vmhost:2222", EsxiHost("esxi://root@vmhost:2222", "vmhost", "root", 2222)),
        ("esxi://[fe80::1]", EsxiHost("esxi://[fe80::1]", "fe80::1")),
    ],
)
def test_an_esxi_host_is_named(text: str, place: EsxiHost):
    assert parse_destination(text) == place


@pytest.mark.parametrize("text", ["esxi://", "esxi://a:b@c", "esxi://a b", "esxi://x:99999"])
def test_what_is_no_esxi_host_is_refused(text: str):
    with pytest.raises(InputError):
        parse_destination(text)


@pytest.mark.sshd
def test_an_esxi_host_runs_its_own_script_beside_the_others(
    server: tuple[Sshd, Home], monkeypatch: pytest.MonkeyPatch
):
    _, home = server
    monkeypatch.setenv("HOME", str(home.folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    dead = EsxiHost(f"esxi://127.0.0.1:{free_port()}", "127.0.0.1", None, free_port())
    places = [EsxiHost("esxi://lab1", "lab1"), Remote("lab2", "lab2"), dead]
    doing: list[str] = []
    found = {
        result.destination: result
        for result in reach(places, REQUEST, progress=lambda place, _: doing.append(place.text))
    }
    assert found.keys() == set(places)
    esxi, linux, gone = (found[place] for place in places)
    assert isinstance(esxi, Captured) and esxi.text == "begin esxi\n"
    assert isinstance(linux, Captured) and linux.text == "begin linux\n"
    assert isinstance(gone, Unreachable) and gone.error.what.startswith("ssh.")
    assert "esxi://lab1" in doing


def test_what_has_no_script_for_esxi_sends_none():
    places = [parse_destination("esxi://nowhere")]
    (result,) = reach(places, CaptureRequest(script="rm -rf x\n", begins="begin"))
    assert isinstance(result, Unreachable)
    assert result.error.what == "host.esxi"


def test_a_spec_with_an_esxi_host_is_refused_for_what_it_is():
    with pytest.raises(InputError) as caught, ExitStack() as stack:
        _runner("alpha", parse_destination("esxi://vmhost"), stack, lone_host("here"))
    assert (caught.value.what, caught.value.where) == ("spec.esxi_host", "alpha")
