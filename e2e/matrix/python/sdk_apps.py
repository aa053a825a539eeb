"""The Python SDK's own apps: a tool bound to a document."""

import os
import sys

from mcp.server.apps import Apps
from mcp.server.mcpserver import MCPServer

PAGE = "ui://matrix/view"
apps = Apps()


@apps.tool(resource_uri=PAGE)
def count(start: int) -> str:
    """Counts from a number."""
    return f"counted from {start}"


with open(sys.argv[1], encoding="utf-8") as file:
    apps.add_html_resource(PAGE, file.read())

server = MCPServer("matrix", extensions=[apps])


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return f"that is {a + b}"


if __name__ == "__main__":
    port = os.environ.get("PORT")
    if port:
        server.run(transport="streamable-http", host="127.0.0.1", port=int(port))
    else:
        server.run()
