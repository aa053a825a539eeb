"""FastMCP with its apps: a view built of its components, and one that is a document of ours."""

import os
import sys

from fastmcp import FastMCP, FastMCPApp
from fastmcp.apps import AppConfig
from prefab_ui.actions import SetState
from prefab_ui.actions.mcp import CallTool, SendMessage
from prefab_ui.components import Button, Column, Text

PAGE = "ui://matrix/view"

app = FastMCPApp("counter")


@app.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return f"that is {a + b}"


@app.ui(annotations={"readOnlyHint": True})
def components(start: int) -> Column:
    """Counts, shown with components."""
    with Column() as column:
        Text(f"counted from {start}")
        Text("{{ sum }}")
        Button("Add", on_click=CallTool(add, arguments={"a": 40, "b": 2}, on_success=SetState("sum", "{{ $result }}")))
        Button("Say", on_click=SendMessage("said by a view"))
    return column


server = FastMCP("matrix", providers=[app])


@server.tool(app=AppConfig(resource_uri=PAGE), annotations={"readOnlyHint": True})
def count(start: int) -> str:
    """Counts, shown by a document."""
    return f"counted from {start}"


@server.resource(PAGE)
def page() -> str:
    with open(sys.argv[1], encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    port = os.environ.get("PORT")
    if port:
        server.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False)
    else:
        server.run(show_banner=False)
