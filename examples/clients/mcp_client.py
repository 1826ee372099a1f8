"""Use Dossier as a tool of an MCP host: over standard input and output, or over HTTP at a running server.

python examples/clients/mcp_client.py "In which year was Eelgrass Watch founded?" [http://localhost:8000/mcp] [key]
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

HOST_FILE = Path(__file__).with_name("mcp.json").read_text("utf-8")
"""What a host is told; the placeholder stands for the folder in which Dossier lies."""
FOLDER = str(Path(__file__).resolve().parents[2])


async def heard(progress: float, total: float | None, message: str | None) -> None:
    """Show how far it is."""
    sys.stderr.write(f"{progress:.0f}. {message}\n")


async def main() -> None:
    """Call the research tool once."""
    question, address = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    headers = {"Authorization": f"Bearer {sys.argv[3]}"} if len(sys.argv) > 3 else None
    async with AsyncExitStack() as stack:
        if address:
            reading, writing, _ = await stack.enter_async_context(streamablehttp_client(address, headers=headers))
        else:
            told = json.loads(HOST_FILE.replace("/path/to/dossier", FOLDER))["mcpServers"]["dossier"]
            # Keys and settings are in the environment, of which hosts hand on only what they are told to.
            server = StdioServerParameters(
                command=told["command"], args=told["args"], cwd=told["cwd"], env=dict(os.environ)
            )
            reading, writing = await stack.enter_async_context(stdio_client(server))
        client = await stack.enter_async_context(ClientSession(reading, writing))
        await client.initialize()
        told = await client.call_tool("research", {"question": question, "tier": "simple"}, progress_callback=heard)
    if told.isError or told.structuredContent is None:
        sys.exit(str(told.content))
    sys.stdout.write(told.structuredContent["final_answer"] + "\n")


if __name__ == "__main__":
    asyncio.run(main())
