#!/usr/bin/env python3
"""Drives `hookrun serve --mcp` by the official MCP client for Python: `pip install mcp`, then

    python3 ci/probe/mcp_client.py HOOKRUN
"""
import asyncio, json, os, pathlib, sys, tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

GUARD = "#!/bin/sh\ncase $(cat) in *'rm x'*) echo 'no rm' >&2; exit 1 ;; esac\n"


def payload(command):
    return {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": {"command": command}}


async def drive(hookrun, folder):
    words = ["serve", "--mcp", "--host", "claude", "--hooks", str(folder / "hooks.d")]
    server = StdioServerParameters(command=hookrun, args=words, cwd=str(folder), env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        hello = await session.initialize()
        # The second spelling is that of versions before 2.
        server = getattr(hello, "server_info", None) or hello.serverInfo
        print("server:", server.name, server.version)
        await session.send_ping()
        tools = await session.list_tools()
        print("tools:", ", ".join(tool.name for tool in tools.tools))
        for name, arguments in [("decide", payload("ls")), ("decide", payload("rm x")),
                                ("tool_pre", {"toolName": "bash", "toolInput": {"command": "rm x"}})]:
            result = await session.call_tool(name, arguments)
            print(f"{name}:", result.content[0].text.strip() or "nothing to say")
        asked = [session.call_tool("decide", payload("rm x")) for _ in range(50)]
        blocked = [json.loads(one.content[0].text) for one in await asyncio.gather(*asked)]
        print("at once:", len(blocked), "of 50 blocked")


with tempfile.TemporaryDirectory() as folder:
    guard = pathlib.Path(folder) / "hooks.d/tool.pre/guard.sh"
    guard.parent.mkdir(parents=True)
    guard.write_text(GUARD)
    guard.chmod(0o755)
    asyncio.run(drive(sys.argv[1], pathlib.Path(folder)))
