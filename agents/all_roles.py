"""All roles, in one list: what is bound to models, checked against the prompts, and offered for a choice of model."""

from agents.contracts.frozen import Frozen
from agents.core.role import Role
from agents.roles.challenger import CHALLENGER
from agents.roles.extractor import EXTRACTOR
from agents.roles.flat_planner import FLAT_PLANNER
from agents.roles.judge import JUDGE
from agents.roles.manager import MANAGER
from agents.roles.planner import PLANNER
from agents.roles.reflector import REFLECTOR
from agents.roles.scout import SCOUT
from agents.roles.synthesizer import FRAME_WRITER, LEAD_WRITER, SECTION_WRITER
from agents.roles.verifier import STANCE_JUDGE, VERIFIER

ROLES: tuple[Role[Frozen, Frozen], ...] = (  # type: ignore[assignment]  # a role's contracts are its own affair
    MANAGER,
    PLANNER,
    FLAT_PLANNER,
    SCOUT,
    EXTRACTOR,
    REFLECTOR,
    CHALLENGER,
    STANCE_JUDGE,
    VERIFIER,
    JUDGE,
    SECTION_WRITER,
    LEAD_WRITER,
    FRAME_WRITER,
)
