"""A worker process on PostgreSQL in the scripted world. Usage: python -m tests.jobs.worker_child FOLDER URL NAME."""

import asyncio
import sys
from pathlib import Path

from agents.jobs.config import MaintenancePolicy
from tests.jobs.crash_child import team_in

QUICK = MaintenancePolicy(alive_s=0.5, dead_s=3.0)
"""Quick to notice a lost worker."""


async def main(folder, url, name, workers=4):
    team = team_in(folder, url, executor=name, policy=QUICK, workers=int(workers))
    await team.open()
    await asyncio.sleep(300)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
