"""A worker process on PostgreSQL in the scripted world. Usage: python -m tests.jobs.worker_child FOLDER URL NAME."""

import asyncio
import sys
from pathlib import Path

import agents.jobs.maintenance as rounds
from tests.jobs.crash_child import team_in

# Quick to notice a lost worker.
rounds.ALIVE_S, rounds.DEAD_S = 0.5, 3.0


async def main(folder, url, name):
    team = team_in(folder, url, executor=name, workers=int(sys.argv[4]) if len(sys.argv) > 4 else 4)
    await team.open()
    await asyncio.sleep(300)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
