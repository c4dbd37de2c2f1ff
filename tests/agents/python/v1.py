"""An A2A 1.x agent made with the Python SDK: serves its card, and nothing else.

    python v1.py PORT [BASE]

Port 0 takes a free one. Prints `ready PORT` once the port is open.
"""

import sys

from a2a.server.routes import create_agent_card_routes
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.routing import Mount

import serve


def card(url):
    return AgentCard(
        name="Recipes",
        description="Finds recipes.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="find", name="Find", description="Finds a recipe.", tags=["food"])],
    )


def app(url, base):
    routes = create_agent_card_routes(card(url))
    return Starlette(routes=[Mount(base, routes=routes)] if base else routes)


serve.main(sys.argv, app)
