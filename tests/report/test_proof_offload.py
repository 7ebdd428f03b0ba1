"""Where a flow's packets went, on the page of a proof: shown by counters, or not proven."""

import csv
import io

import pytest

from wirespeed.apply.planner import make_plan
from wirespeed.model.network_trial import FlowCounts, OffloadTrial, OffloadVerdict
from wirespeed.model.observed import Known
from wirespeed.report.proof_answer import ProofAnswer, answers, exit_code, is_proven, verdict
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.proof_page import Proof
from wirespeed.steps.eswitch_mode import EswitchMode

from .proofs import PAIR, PORTS, SPEC, html_of, markdown_of, proof, trials

EVIDENCE = "2 flows offloaded, 3000 packets; 1 not, 2 packets (tc)"


def told(host: str = "alpha", **differs: object) -> OffloadTrial:
    """A flow that a ConnectX forwards: of 3010 packets of the VF, its host saw 12."""
    one = OffloadTrial(
        pair=PAIR,
        host=host,
        is_expected=True,
        load_pps=1000,
        seconds=3,
        flows=FlowCounts(
            offloaded=2, offloaded_packets=3000, others=1, other_packets=2, layers=("tc",)
        ),
        tc_hardware_packets=2987,
        vf_packets=3010,
        software_packets=12,
        port_packets=6044,
        verdict=OffloadVerdict.HIT,
        said=EVIDENCE,
    )
    return one.model_copy(update=differs)


def of_ovs(*offloads: OffloadTrial, approach: str = "ovs-tc", **differs: object) -> Proof:
    whole = proof()
    spec = SPEC.model_copy(update={"approach": type(SPEC.approach)(approach)})
    opening = whole.opening.model_copy(update={"spec": spec})
    return proof(opening=opening, trials=(*trials(), *offloads), **differs)


def answer(of: Proof) -> ProofAnswer:
    (one,) = (a for a in answers(of) if a.question == "Offload")
    return one


def test_packets_that_the_card_is_seen_to_forward_are_proven():
    whole = of_ovs(told("alpha"), told("beta"))
    assert answer(whole).figure == "offloaded and hit"
    assert answer(whole).condition.startswith("2 of 2 readings")
    assert is_proven(whole)
    assert exit_code(whole) == 0
    for page in (html_of(whole), markdown_of(whole)):
        assert EVIDENCE in page
        assert "3 010" in page or "3,010" in page
        assert "6 044" in page or "6,044" in page


@pytest.mark.parametrize(
    "one", [v for v in OffloadVerdict if v is not OffloadVerdict.HIT], ids=lambda v: v.name
)
def test_a_card_with_an_embedded_switch_whose_flows_are_not_in_it_is_not_proven(
    one: OffloadVerdict,
):
    whole = of_ovs(told("alpha"), told("beta", verdict=one, said="as the host said it"))
    assert answer(whole).figure == one
    assert answer(whole).condition.endswith("beta: as the host said it")
    assert not is_proven(whole)
    assert exit_code(whole) == 1
    assert verdict(whole) == "Not proven: offload"
    assert 'class="verdict alarm"' in html_of(whole)


def test_a_card_without_an_embedded_switch_is_not_asked_and_says_where_it_went():
    soft = {"is_expected": False, "verdict": OffloadVerdict.IN_SOFTWARE}
    whole = of_ovs(told("alpha", **soft), told("beta", **soft))
    one = answer(whole)
    assert not one.is_asked
    assert one.condition == "no card with an embedded switch; alpha: in software, beta: in software"
    assert is_proven(whole)
    assert "in software (no embedded switch)" in markdown_of(whole)


def test_a_plan_that_uses_an_embedded_switch_has_to_be_asked():
    mode = EswitchMode(pci_address=PORTS[0], mode="switchdev")
    uses = make_plan([("alpha", mode, Known({"mode": "legacy"}, "devlink"))])
    unread = of_ovs(plan=uses, entries=())
    assert (answer(unread).figure, answer(unread).is_asked) == ("not shown", True)
    assert not is_proven(unread)
    assert not answer(of_ovs()).is_asked


def test_vlans_of_a_card_have_no_flows_to_be_offloaded():
    whole = of_ovs(approach="legacy-vlan")
    assert (answer(whole).figure, answer(whole).is_asked) == ("not asked", False)
    assert "## Offload" not in markdown_of(whole)
    assert 'id="offload"' not in html_of(whole)


def test_the_counters_are_rows_of_the_csv_and_what_was_not_read_is_no_zero():
    text = render_proof_csv(of_ovs(told("alpha", vf_packets=None)))
    rows = {r["figure"]: r for r in csv.DictReader(io.StringIO(text))}
    assert rows["offload, alpha, in software"]["median"] == "12"
    assert rows["offload, alpha, in software"]["verdict"] == "offloaded and hit"
    assert rows["offload, alpha, of the VF"]["median"] == ""


def test_a_build_that_unpacks_tunnels_in_software_is_told_as_what_was_to_be_expected():
    partly = told("beta", verdict=OffloadVerdict.PARTLY)
    of_dpdk = answer(of_ovs(told("alpha"), partly, approach="ovs-dpdk"))
    assert "To be expected: Of a tunnel the card packs what goes out" in of_dpdk.condition
    assert "experimental API" in of_dpdk.condition
    # It is told, and not taken for offloaded.
    assert not of_dpdk.is_proven
    assert "expected" not in answer(of_ovs(told("alpha"), partly)).condition
    software = told("beta", verdict=OffloadVerdict.IN_SOFTWARE)
    none = answer(of_ovs(told("alpha"), software, approach="ovs-dpdk"))
    assert "expected" not in none.condition
