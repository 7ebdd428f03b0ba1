"""A model over hosts: figures by hand, from the sizes that the papers and vLLM give."""

import pytest

from wirespeed.advice.inference import Model, advise_inference, splits

SEED = Model(hosts=2, hidden=8192, layers=80, value_bytes=2, sequences=1, tokens_per_s=70)
"""Two hosts with a model of 120 GB, 70 tokens/s in a pipeline over 10 Gb/s."""


def test_bytes_and_messages_of_a_token():
    pipeline, tensor = splits(SEED)
    # Two tensors of 8192 values of two bytes; there, and the token back.
    assert (pipeline.sent_bytes, pipeline.messages) == (32_768, 2)
    # 160 all-reduces of 16,384 bytes; with two hosts each sends one whole tensor, in two steps.
    assert (tensor.sent_bytes, tensor.messages) == (160 * 16_384, 320)
    four = splits(Model(4, 8192, 80, 2, 8, 70.0))[1]
    assert (four.sent_bytes, four.messages) == (160 * 16_384 * 8 * 1.5, 960)


def test_a_faster_link_does_not_help_a_pipeline_that_hardly_uses_it():
    advice = advise_inference(SEED, 10, 50, "pipeline")
    # 32,768 bytes x 8 x 70 = 18.35 Mb/s of 10 Gb/s; 2 x 50 us of 14.29 ms.
    assert advice.answer == (
        "Bandwidth does not bound it: 0.18 % of the link are used on average. "
        "Latency takes 0.7 % of a token's time: a faster link changes little."
    )
    assert advice.choices[0].gbps_low == pytest.approx(0.01835, rel=1e-3)


@pytest.mark.parametrize(
    ("split", "tokens_per_s", "link_gbps", "latency_us", "begins", "latency"),
    [
        # 320 messages of 20 us are 6.4 of 14.29 ms.
        ("tensor", 70, 100, 20, "Bandwidth does not bound it", "Latency does: 45 %"),
        # 2.62 MB x 8 x 300 = 6.3 Gb/s.
        ("tensor", 300, 10, 1, "Bandwidth bounds it: 63 %", "Latency does: 9.6 %"),
        ("pipeline", 30_000, 10, 0.1, "Bandwidth bounds it: 79 %", ""),
    ],
)
def test_what_bounds_it_is_named(
    split: str, tokens_per_s: float, link_gbps: float, latency_us: float, begins: str, latency: str
):
    model = Model(2, 8192, 80, 2, 1, tokens_per_s)
    answer = advise_inference(model, link_gbps, latency_us, split).answer
    assert answer.startswith(begins)
    assert latency in answer and ("Latency" in answer) == bool(latency)


def test_a_batch_sends_more_a_step_and_waits_as_often():
    one, many = SEED, Model(2, 8192, 80, 2, 64, 70.0)
    assert splits(many)[0].sent_bytes == 64 * splits(one)[0].sent_bytes
    assert splits(many)[1].messages == splits(one)[1].messages
    notes = [advise_inference(m, 100, 20, "tensor").choices[0].note for m in (one, many)]
    # (2,621,440 B at 100 Gb/s = 0.2097 ms) + 6.4 ms; and 13.42 + 6.4 ms for 64 tokens.
    assert "alone allows 151 tokens/s" in notes[0]
    assert "alone allows 3,229 tokens/s" in notes[1]


def test_the_stages_of_a_pipeline_send_one_after_the_other():
    """GPipe, arXiv:1811.06965, figure 2: a stage starts when the output of the one before is there.

    64 sequences: 64 x 2 x 8192 x 2 bytes = 2,097,152 at each of 4 boundaries, 1.678 ms at 10 Gb/s.
    """
    five = Model(5, 8192, 80, 2, 64, 70.0)
    note = advise_inference(five, 10, 50, "pipeline").choices[0].note
    # 4 x 1.678 ms, and 5 messages of 50 us: 6.961 ms for 64 tokens.
    assert "32,768 bytes a token sent by a host, 5 messages in turn: 6.96 ms a step" in note
    assert "alone allows 9,194 tokens/s" in note
