"""The challenger looks for what would show a claim to be wrong."""

from agents.contracts.verification import Challenge, ChallengeInput
from agents.core.role import Role
from agents.nlp.years import Calendar


def only_given_years(given: ChallengeInput, challenge: Challenge) -> Challenge:
    """Take out of the counter-searches the years that neither query, claims nor today give."""
    calendar = Calendar(given.model_dump_json(exclude={"today"}), given.today)
    attacks = tuple(
        attack.model_copy(update={"queries": calendar.clean_all(attack.queries)}) for attack in challenge.attacks
    )
    return challenge.model_copy(update={"attacks": attacks})


CHALLENGER = Role(
    name="challenger",
    takes=ChallengeInput,
    gives=Challenge,
    mend=only_given_years,
    max_output_tokens=700,
    listed="attacks",
)
"""The claims of one query in, searches for counter-evidence out."""
