"""Every share of time, reserve and deadline of a run, in one place. All durations are seconds.

    Enter                                                                                       the end
      |-- scoping --|                                                                              |
      |-- planning ----|                                                                           |
      |                |--------- collecting ----------------|------ the reserve -------|- margin -|
      |                 leaves: search, read, claims          sections, frame, checks     save
      total = what `--time` gives, counted from the user's Enter; scoping and planning are part of it

- reserve = min(90, 0.3 x total): kept for writing. Collecting gets none of it.
- margin = min(3, 0.08 x total): after the last call, so that the report is assembled and saved inside the total.
- A call gets what is left of its phase as its time-out, never more than its own share below, and where a model's pace
  is known, never more than a few times what that pace needs (`call_limit_s`).

Fair shares: what a round and its leaves may take of what is left, whatever changed it meanwhile. Pure.
"""

from agents.core.budget import Limits

RESERVE_SHARE, RESERVE_CAP_S = 0.3, 90.0
"""Part of the total that is kept for writing, and seconds at most, which also hold when time is unlimited."""
MARGIN_SHARE, MARGIN_CAP_S = 0.08, 3.0
"""Part of the total, and seconds at most, between the last call's deadline and the end."""

SCOPING_SHARE = 0.25  # of the total: understanding the question, on the command line and over HTTP
LEAST_RESEARCH_SHARE = 0.4
"""Of the total: what research has in any case, on a machine too busy to start in time."""
PLANNING_SHARE = 0.15  # of the total: the planner's one call
FLAT_PLANNING_SHARE = 0.25  # the same of a `/run`, whose total is short
LEAST_RUN_S = 0.5  # what a `/run` has once it is planned: enough to say that there was no time
ROUND_SHARE = 0.6  # of what is left for collecting: one round while others may follow
SCOUT_SHARE, REFLECTION_SHARE = 0.4, 0.5
"""Of what is left for collecting: the scout's judgement of a sweep, since the quick look into the sources follows; one
reflection, since what it asks for follows. A tenth of the total had ended runs of a slow model that had time for more."""

REWRITE_SHARE, LEAD_SHARE, FRAME_SHARE = 0.6, 0.7, 0.85
"""Of the reserve: a section written anew, a lead, the frame; each ends before the next may begin."""
LATE_SEARCH_SHARE, LATE_READ_SHARE = 0.6, 0.3
"""Of the reserve: searching and fetching, and reading, of a leaf that came when collecting was over; without them there
would be nothing to write."""


def synthesis_reserve_s(total_s: float | None) -> float:
    """Say how long writing has: min(90, 0.3 x total); 90 when time is unlimited."""
    return RESERVE_CAP_S if total_s is None else min(RESERVE_CAP_S, RESERVE_SHARE * total_s)


def margin_s(total_s: float | None) -> float:
    """Say how long assembling and saving the report has."""
    return 0.0 if total_s is None else min(MARGIN_CAP_S, MARGIN_SHARE * total_s)


def left_for_research_s(total_s: float, spent_s: float) -> float:
    """Give what is left of a total after scoping took `spent_s`; late is better than nothing."""
    return max(LEAST_RESEARCH_SHARE * total_s, total_s - spent_s)


def round_limits(
    seconds: float | None, collecting: float | None, tokens: int | None, children: int, *, last: bool
) -> Limits:
    """Give each child of a round its share of what is left, None being unlimited: of `seconds` in all, `collecting` of them.

    Tokens are shared out side by side; of the time a part is kept while rounds may follow. A limit of time holds what is
    kept for writing too, since a branch takes that off again.
    """
    kept = (seconds or 0) - (collecting or 0)
    mine = collecting if last or collecting is None else ROUND_SHARE * collecting
    return Limits(
        seconds=None if mine is None else kept + mine,
        tokens=None if tokens is None else max(1, int(tokens) // max(1, children)),
    )
