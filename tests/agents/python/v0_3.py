"""An A2A 0.3 agent made with the Python SDK: its card stands at the well-known path and at the older one.

    python v0_3.py PORT [BASE]

Port 0 takes a free one. Prints `ready PORT` once the port is open.
"""

import sys

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentSkill
from starlette.applications import Starlette
from starlette.routing import Mount

import serve


class Silent(AgentExecutor):
    """Nobody sends this agent a message."""

    async def execute(self, context, event_queue):
        raise NotImplementedError

    async def cancel(self, context, event_queue):
        raise NotImplementedError


def card(url):
    return AgentCard(
        name="Weather",
        description="Tells the weather.",
        url=url,
        version="1.0.0",
        capabilities=AgentCapabilities(),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="tell", name="Tell", description="Tells the weather.", tags=["sky"])],
    )


def app(url, base):
    handler = DefaultRequestHandler(agent_executor=Silent(), task_store=InMemoryTaskStore())
    routes = A2AStarletteApplication(agent_card=card(url), http_handler=handler).routes()
    return Starlette(routes=[Mount(base, routes=routes)] if base else routes)


serve.main(sys.argv, app)
