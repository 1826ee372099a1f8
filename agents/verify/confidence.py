"""Confidence as a number that can be recomputed by hand: of a claim from its evidence, of a report from its claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from agents.contracts.body import SentenceVerdict
from agents.contracts.claim import Evidence, Verdict

PER_ORIGIN = 0.8
"""What the best evidence of one origin can do for a claim: one source alone never makes it more certain than this."""
SETTLED = 0.5
"""Weight from which one side counts as having spoken."""
OPEN_DISPUTE = 0.5
"""Share of the stronger side's weight from which the weaker side makes a claim contested."""
_STATES_NOTHING = "no_fact"
_LOOKED_AT = frozenset({"supported", "partly", "unsupported", "contradicted"})


@dataclass(frozen=True)
class Weighed:
    """What the evidence says about a claim."""

    verdict: Verdict
    confidence: float
    """0 to 1, in the verdict."""
    support: float
    qualification: float
    opposition: float
    """Weights of the three sides, 0 to 1."""
    origins: int
    """Independent sources that take a stance."""


@dataclass(frozen=True)
class Counted:
    """How many sentences were checked: a share is told only together with what it is a share of."""

    supported: int
    stating: int
    """Sentences that state a fact: the denominator."""
    checked: int
    not_checked: int
    """Stating sentences without a judgement: uncited ones and those that could not be checked."""

    @property
    def ratio(self) -> float | None:
        """Supported sentences to sentences that state a fact; None when none does."""
        return self.supported / self.stating if self.stating else None

    def told(self) -> str:
        """Say it in one sentence."""
        if not self.stating:
            return "No sentence states a fact, so none could be checked."
        looked = f"{self.checked} of {self.stating} sentences that state a fact were checked"
        return f"{looked}; {self.supported} are carried by their quotes, {self.not_checked} were not checked."


def weigh(evidence: Sequence[Evidence], origin_of: Mapping[str, str] | None = None) -> Weighed:
    """Weigh evidence into a verdict.

    Each side's weight is `1 - Π (1 - 0.8 · s)` over its independent origins, `s` being the strongest evidence of the
    origin: independent witnesses add up, copies do not, and no side reaches certainty. The verdict follows from the
    weights; confidence is the winner's weight times one minus what speaks against it. The shape is the noisy-or of
    Pearl (Probabilistic Reasoning in Intelligent Systems, 1988, section 4.3.2); 0.8 is a choice, not a measurement.

    Args:
        evidence: stances on one claim; unrelated ones do not count.
        origin_of: source id to the name of its origin, where sources were put together; else domains are origins.
    """
    names = origin_of or {}
    sides: dict[str, dict[str, float]] = {"supports": {}, "qualifies": {}, "contradicts": {}}
    for one in evidence:
        if one.stance in sides:
            origin = names.get(one.source_id, one.domain)
            sides[one.stance][origin] = max(sides[one.stance].get(origin, 0.0), one.strength)
    support, qualified, against = (_side(sides[name]) for name in ("supports", "qualifies", "contradicts"))
    origins = len({origin for side in sides.values() for origin in side})
    verdict, confidence = _verdict(support, qualified, against)
    return Weighed(verdict, round(confidence, 4), support, qualified, against, origins)


def _side(strengths: Mapping[str, float]) -> float:
    left = 1.0
    for strength in strengths.values():
        left *= 1 - PER_ORIGIN * strength
    return round(1 - left, 4)


def _verdict(support: float, qualified: float, against: float) -> tuple[Verdict, float]:
    strongest = max(support, qualified, against)
    if strongest < SETTLED:
        return "insufficient", 1 - strongest
    pro = max(support, qualified)
    if against >= OPEN_DISPUTE * pro and pro >= OPEN_DISPUTE * against:
        return "contested", min(pro, against) / max(pro, against)
    if against > pro:
        return "refuted", against * (1 - pro)
    if qualified >= OPEN_DISPUTE * support:
        return "qualified", pro * (1 - against)
    return "supported", support * (1 - against)


def count(verdicts: Sequence[SentenceVerdict | None]) -> Counted:
    """Count sentence verdicts; a sentence without one states a fact that nobody checked."""
    stating = [verdict for verdict in verdicts if verdict != _STATES_NOTHING]
    checked = sum(verdict in _LOOKED_AT for verdict in stating)
    return Counted(stating.count("supported"), len(stating), checked, len(stating) - checked)


def report_confidence(claims: Sequence[Weighed | None], counted: Counted) -> float | None:
    """Give the confidence of a report, 0 to 100 (specification, section 2), or None when nothing was weighed.

    `100 · √(c · r)`: `c` is the mean over the claims of what is known about each, `r` the verifiable ratio. The
    geometric mean keeps a well-cited report without settled claims, or the reverse, from looking sound. A claim counts
    with its confidence when the evidence settled it, whichever way; with half of it when the sources disagree; with
    nothing when evidence is insufficient or nobody looked. One half alone is taken where the other does not exist.

    Args:
        claims: one for each claim of the report; None where it was not checked.
        counted: the sentences of its body.
    """
    known = [_known(claim) for claim in claims]
    settled = sum(known) / len(known) if known else None
    halves = [half for half in (settled, counted.ratio) if half is not None]
    return round(100 * prod(halves) ** (1 / len(halves)), 1) if halves else None


def _known(claim: Weighed | None) -> float:
    if claim is None or claim.verdict in {"insufficient", "not_checked"}:
        return 0.0
    return claim.confidence / 2 if claim.verdict == "contested" else claim.confidence
