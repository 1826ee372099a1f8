"""What every forked process of the tests has loaded. Not Chainlit, which reads its folder while it is imported."""

import gc

gc.disable()

import asyncpg  # noqa: E402, F401
import dataclasses_json  # noqa: E402, F401 - of Chainlit's, as some below
import dbos  # noqa: E402, F401
import fastapi  # noqa: E402, F401
import jwt  # noqa: E402, F401
import litellm  # noqa: E402, F401
import mcp.server.fastmcp  # noqa: E402, F401
import numpy  # noqa: E402, F401
import socketio  # noqa: E402, F401
import sqlalchemy.dialects.sqlite.aiosqlite  # noqa: E402, F401
import uvicorn  # noqa: E402, F401

import agents.api.app_state  # noqa: E402
import agents.api.mcp_server  # noqa: E402
import agents.api.metrics  # noqa: E402
import agents.cli.headless  # noqa: E402
import agents.cli.main  # noqa: E402
import agents.jobs.client  # noqa: E402
import agents.memory.sql_knowledge  # noqa: E402
import agents.report.formats  # noqa: E402
import agents.run_research  # noqa: E402
import agents.team  # noqa: E402, F401
import tests.jobs.worker_child  # noqa: E402
import tests.warmed  # noqa: E402, F401

gc.freeze()  # no process goes through it again
gc.enable()
