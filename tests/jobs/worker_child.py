"""A worker process on PostgreSQL in the scripted world. Usage: python -m tests.jobs.worker_child FOLDER URL NAME."""

import asyncio
import sys
from pathlib import Path

from agents.jobs.config import MaintenancePolicy
from tests.jobs import crash_child
from tests.jobs.crash_child import team_in


async def main(folder, url, name, workers=4, dead_s=3.0, delay_s=crash_child.DELAY_S):
    """Run jobs; `dead_s` says how quickly another worker is taken for lost, on a busy machine also one that lives.

    Each call takes about `delay_s`: a job that is stopped from elsewhere must still run when the order comes.
    """
    crash_child.DELAY_S = float(delay_s)
    policy = MaintenancePolicy(alive_s=0.5, dead_s=float(dead_s))
    team = team_in(folder, url, executor=name, policy=policy, workers=int(workers))
    await team.open()
    await asyncio.sleep(300)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
