"""The engine: one turn of a graph, from what the log has to what its nodes hand on."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import aclosing
from typing import Any, TypeAlias, cast

from langchain_core.messages import RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels import BinaryOperatorAggregate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import Overwrite

from lastword.core.entries import Nature
from lastword.engines.kit import Compaction
from lastword.engines.kit.approving import Approve
from lastword.engines.langgraph.asking import Answering, Ask
from lastword.engines.langgraph.models import hold_models
from lastword.engines.langgraph.savers import hold_savers
from lastword.engines.langgraph.talk import GraphTalk
from lastword.engines.langgraph.tools import hold_tools
from lastword.engines.langgraph.trouble import of_graph
from lastword.engines.langgraph.updates import Updates
from lastword.runtime.run import Run

Graph: TypeAlias = Pregel[Any, Any, Any, Any]
_MESSAGES = "messages"


def hold_all() -> None:
    """From here on, in whatever engine's run."""
    hold_tools()
    hold_models()
    hold_savers()


class LangGraph:
    """An engine. `state` is what a graph is given beside the messages, `config` and `context` are
    what it is run with; each may be made for each run.

    `speak` names the nodes whose models answer the person: all, if nobody says otherwise. What a
    graph asks with `interrupt` is answered by `ask`; `approve` is asked whether a call may be made
    by LangChain's HumanInTheLoopMiddleware.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        state: Mapping[str, Any] | Callable[[Run], Any] | None = None,
        config: RunnableConfig | Callable[[Run], RunnableConfig] | None = None,
        context: Any | Callable[[Run], Any] = None,  # noqa: ANN401 - whatever the graph takes
        speak: Collection[str] = (),
        ask: Ask | None = None,
        approve: Approve | None = None,
        compaction: Compaction | None = None,
    ) -> None:
        hold_all()
        if not isinstance(graph, Pregel):  # pyright: ignore[reportUnnecessaryIsInstance] - anybody's
            raise TypeError(f"a compiled graph is needed, not a {type(graph).__name__}: compile()")
        self._graph = graph
        self._state = state
        self._config = config
        self._context = context
        self._speak = frozenset(speak)
        self._asking = Answering(ask, approve)
        self._compaction = compaction
        self._natures = _natures(graph)
        if _MESSAGES not in graph.channels and state is None:
            raise ValueError(
                "this graph has no messages; say what it is given: LangGraph(graph, state=...)"
            )

    async def __call__(self, run: Run) -> None:
        hold_all()
        talk = GraphTalk(run, self._compaction, self._speak, self._natures)
        with talk.entered():
            try:
                await self._go(run, talk)
            except Exception as error:
                told = _told(talk, error)
                if told is error:
                    raise
                raise told from error

    async def _go(self, run: Run, talk: GraphTalk) -> None:
        graph, given = self._graph, self._given(run, talk)
        if self._asking and not graph.checkpointer:  # what it asks has to be kept until answered
            graph = graph.copy({"checkpointer": InMemorySaver()})
        config, context = self._configured(run), _made(self._context, run)
        while True:
            updates = Updates(talk)
            stream = graph.astream(
                given, config, context=context, stream_mode="updates", subgraphs=True
            )
            async with aclosing(cast("Any", stream)) as events:
                async for where, update in events:
                    await updates.take(where, update)
            if not updates.paused:
                return
            answer = await self._asking.answered(run, updates.asked)
            if answer is None:
                return
            given = answer if updates.asked else None

    def _given(self, run: Run, talk: GraphTalk) -> Any:  # noqa: ANN401 - whatever the graph takes
        state = _made(self._state, run)
        channel = self._graph.channels.get(_MESSAGES)
        if channel is None or (state is not None and not isinstance(state, Mapping)):
            return state
        messages: Any = talk.prepared.given
        if self._graph.checkpointer:  # of the messages the log is the truth, and no checkpoint
            plain = isinstance(channel, BinaryOperatorAggregate) and not _adds_messages(channel)
            own = Overwrite(messages) if plain else [_ALL_GONE, *messages]
            messages = own if isinstance(channel, BinaryOperatorAggregate) else messages
        return {**cast("Mapping[str, Any]", state or {}), _MESSAGES: messages}

    def _configured(self, run: Run) -> RunnableConfig:
        own: dict[str, Any] = _made(self._config, run) or {}
        known = {"thread_id": str(run.session), **own.get("configurable", {})}
        return cast("RunnableConfig", {**own, "configurable": known})


_ALL_GONE = RemoveMessage(id=REMOVE_ALL_MESSAGES)


def _adds_messages(channel: BinaryOperatorAggregate[Any]) -> bool:
    return getattr(channel.operator, "__name__", "").endswith("add_messages")


def _made(given: Any, run: Run) -> Any:  # noqa: ANN401 - what a team gives for each run
    return given(run) if callable(given) else given


def _told(talk: GraphTalk, error: Exception) -> Exception:
    """What the person is told of an error: what its provider said, if it is one's."""
    words = {id(failed): told for failed, told in talk.failures}
    cause: BaseException | None = error
    while cause is not None:
        if id(cause) in words:
            return words[id(cause)]
        cause = cause.__cause__
    return of_graph(error)


def _natures(graph: Graph) -> dict[str, Nature]:
    """What the metadata of tools says of calling them twice: `{"nature": "read_only"}`."""
    natures: dict[str, Nature] = {}
    for node in graph.nodes.values():
        tools = node.bound.tools_by_name.values() if isinstance(node.bound, ToolNode) else ()
        for tool in tools:
            nature = (tool.metadata or {}).get("nature")
            if nature in ("read_only", "idempotent"):
                natures[tool.name] = nature
    return natures
