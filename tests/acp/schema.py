"""What the protocol's own schema says of each message, as the models of its Python SDK have it.

The models forgive much: they pass over what they do not know, and leave out what they cannot read.
So a message has to come out of its model as it went in, and then nothing of it was passed over.
"""

from typing import Any, TypeAlias, cast

from acp import schema
from pydantic import BaseModel, ValidationError

Message: TypeAlias = dict[str, Any]

TOLD: dict[str, type[BaseModel]] = {
    "session/update": schema.SessionNotification,
    "$/cancel_request": schema.CancelRequestNotification,
}
ASKED: dict[str, type[BaseModel]] = {
    "session/request_permission": schema.RequestPermissionRequest,
    "fs/read_text_file": schema.ReadTextFileRequest,
    "fs/write_text_file": schema.WriteTextFileRequest,
    "terminal/create": schema.CreateTerminalRequest,
    "terminal/output": schema.TerminalOutputRequest,
    "terminal/wait_for_exit": schema.WaitForTerminalExitRequest,
    "terminal/kill": schema.KillTerminalRequest,
    "terminal/release": schema.ReleaseTerminalRequest,
}
ANSWERED: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/close": schema.CloseSessionResponse,
    "session/delete": schema.DeleteSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
}


class Traffic:
    """All that went to and fro between a client and an agent."""

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self._open: dict[object, str] = {}  # which method is to be answered under an id
        self._answers: list[tuple[str, Message]] = []

    def sent(self, message: Message) -> None:
        """The client wrote this."""
        if "method" in message and "id" in message:
            self._open[message["id"]] = message["method"]

    def hear(self, message: Message) -> None:
        """The agent wrote this."""
        self.heard.append(message)
        if "method" not in message:
            self._answers.append((self._open.pop(message["id"], "nothing"), message))

    def faults(self) -> list[str]:
        """Whatever of the agent's is not as the schema has it."""
        told = [_asked(message) for message in self.heard if "method" in message]
        return [fault for fault in (*told, *(_answer(*one) for one in self._answers)) if fault]

    def kinds(self) -> set[str]:
        """Which messages and updates the agent has used."""
        methods = {message["method"] for message in self.heard if "method" in message}
        updates = [m["params"]["update"] for m in self.heard if m.get("method") == "session/update"]
        return methods | {update["sessionUpdate"] for update in updates}


def _asked(message: Message) -> str:
    method = message["method"]
    model = (ASKED if "id" in message else TOLD).get(method)
    if model is None:
        return f"{method} is no message of an agent's: {message}"
    extra = set(message) - {"jsonrpc", "id", "method", "params"}
    return f"{method} has {extra}" if extra else fault(model, message["params"])


def _answer(method: str, message: Message) -> str:
    if method not in ANSWERED:
        return f"nobody asked for {message}"
    if set(message) == {"jsonrpc", "id", "error"}:
        return fault(schema.Error, message["error"])
    if set(message) == {"jsonrpc", "id", "result"}:
        return fault(ANSWERED[method], message["result"])
    return f"neither a result nor an error: {message}"


def fault(model: type[BaseModel], said: object) -> str:
    """What is wrong with it; nothing if all of it is as the model has it."""
    try:
        read = model.model_validate(said)
    except ValidationError as error:
        return f"{said}: {error}"
    understood = cast("object", read.model_dump(mode="json", by_alias=True, exclude_unset=True))
    return "" if understood == said else f"{said} was read as {understood}"
