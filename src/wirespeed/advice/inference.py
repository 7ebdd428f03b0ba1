"""Whether a link bounds a language model that is split over hosts: bytes and messages a token."""

from dataclasses import dataclass

from wirespeed.model.advice import Advice, Certainty, Choice, Ground

MEGATRON = "Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3: two all-reduces a layer"
RING = "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009): 2 (n - 1) / n of the data each"
VLLM = "vLLM, model_executor/models: IntermediateTensors hold hidden_states and residual"
NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
BOUNDS = 0.5
"""Share of a link from which its rate is said to matter: bursts need room."""
FELT = 0.05
"""Share of the time of a token from which it is felt."""
ADAPTERS = "Programs choose an interface by themselves, often the one of the default route."


@dataclass(frozen=True, slots=True)
class Model:
    """What is split, and how fast it runs now."""

    hosts: int
    hidden: int
    """Values of a token between two layers: `hidden_size` in the model's config.json."""
    layers: int
    value_bytes: int
    sequences: int
    """Answered at once, one token each in a step."""
    tokens_per_s: float
    """Of all sequences together."""


@dataclass(frozen=True, slots=True)
class Split:
    """One way to split, per step: what each host sends, and messages that wait for each other."""

    name: str
    sent_bytes: float
    messages: int
    senders_in_turn: int = 1
    """Hosts of which each sends only when all bytes of the one before it are there."""


def splits(model: Model) -> tuple[Split, Split]:
    """Give pipeline and tensor parallelism."""
    activation = model.hidden * model.value_bytes * model.sequences
    between = model.hosts - 1
    return (
        # One more message: the token goes back to the first stage.
        Split("pipeline: layers by host", 2 * activation, between + 1, senders_in_turn=between),
        Split(
            "tensor: each layer over all hosts",
            2 * model.layers * 2 * between / model.hosts * activation,
            2 * model.layers * 2 * between,
        ),
    )


def advise_inference(model: Model, link_gbps: float, latency_us: float, split: str) -> Advice:
    """Answer for one split; `latency_us` is of one message, one way."""
    both = {one.name.partition(":")[0]: one for one in splits(model)}
    return Advice(
        question=f"{model.tokens_per_s:g} tokens/s, {split} over {model.hosts} hosts, "
        f"{link_gbps:g} Gb/s, {latency_us:g} us a message",
        answer=_answer(model, both[split], link_gbps, latency_us),
        choices=tuple(
            Choice(
                name=one.name,
                gbps_low=_gbps(model, one),
                gbps_high=_gbps(model, one),
                cpu_percent="",
                certainty=Certainty.COMPUTED,
                note=_note(model, one, link_gbps, latency_us),
            )
            for one in (both[split], *(other for name, other in both.items() if name != split))
        ),
        todo=(
            "See which interface is used: NET/IB names an RDMA device, NET/Socket a netdev.",
            "$ NCCL_DEBUG=INFO PROGRAM 2>&1 | grep -E 'NET/(IB|Socket)'",
            "Choose it on every host, by its exact name.",
            "$ export NCCL_SOCKET_IFNAME==enp1s0f0 GLOO_SOCKET_IFNAME=enp1s0f0 NCCL_IB_HCA==mlx5_0",
            "Count what it carries while the model answers.",
            "$ wirespeed doctor --seconds 10 --verbose",
        ),
        grounds=(
            Ground(says="Tensor: two all-reduces a layer and token.", certainty=Certainty.PUBLISHED,
                   source=MEGATRON),
            Ground(says="An all-reduce as a ring: 2 (n - 1) steps.", certainty=Certainty.PUBLISHED,
                   source=RING),
            Ground(says="Pipeline: two tensors at each boundary and token.",
                   certainty=Certainty.PUBLISHED, source=VLLM),
            Ground(says=ADAPTERS, certainty=Certainty.VENDOR, source=NCCL),
        ),
        unknown=(
            "The prompt: it is sent at once, many tokens in one step, and does need bandwidth.",
            "Loading the model, expert parallelism and the transfer of caches between hosts.",
            "What of the latency is hidden by computing at the same time.",
        ),
    )  # fmt: skip


def _gbps(model: Model, split: Split) -> float:
    """Gb/s that one host sends at this rate of tokens."""
    return split.sent_bytes * 8 * model.tokens_per_s / model.sequences / 1e9


def _milliseconds(split: Split, link_gbps: float, latency_us: float) -> tuple[float, float]:
    """Of a step: by the link's rate, and by messages that wait for each other."""
    in_turn_bytes = split.sent_bytes * split.senders_in_turn
    return in_turn_bytes * 8 / (link_gbps * 1e6), split.messages * latency_us / 1e3


def _answer(model: Model, split: Split, link_gbps: float, latency_us: float) -> str:
    share = _gbps(model, split) / link_gbps
    _, waits_ms = _milliseconds(split, link_gbps, latency_us)
    step_ms = 1e3 * model.sequences / model.tokens_per_s
    waits = waits_ms / step_ms
    if share >= BOUNDS:
        said = f"Bandwidth bounds it: {100 * share:.0f} % of the link are needed on average."
    else:
        said = f"Bandwidth does not bound it: {_percent(share)} of the link are used on average."
    if waits >= FELT:
        return (
            f"{said} Latency does: {_percent(waits)} of the time of a token is {split.messages} "
            "messages that wait for each other; RDMA or fewer hosts shorten it."
        )
    if share >= BOUNDS:
        return said
    return (
        f"{said} Latency takes {_percent(waits)} of a token's time: a faster link changes little."
    )


def _note(model: Model, split: Split, link_gbps: float, latency_us: float) -> str:
    rate_ms, waits_ms = _milliseconds(split, link_gbps, latency_us)
    most = 1e3 * model.sequences / (rate_ms + waits_ms)
    per_token = split.sent_bytes / model.sequences
    return (
        f"{per_token:,.0f} bytes a token sent by a host, {split.messages} messages in turn: "
        f"{rate_ms + waits_ms:.3g} ms a step; the network alone allows {most:,.0f} tokens/s"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"
