"""The public names."""

from lastword.core.model import (
    Attachment,
    Generation,
    Message,
    Outcome,
    Policy,
    Reason,
    Status,
    Token,
)
from lastword.core.receipt import Receipt
from lastword.core.shown import Shown
from lastword.core.story import FeedEvent
from lastword.core.words import means_stop
from lastword.errors import (
    Busy,
    LastwordError,
    NotAllowed,
    NotWaiting,
    QueueFull,
    Refused,
    RuntimeClosed,
    SlowWatcher,
    StaleRun,
    Superseded,
)
from lastword.runtime.call import Call
from lastword.runtime.children import Child
from lastword.runtime.run import Engine, Run
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.runtime.ticket import Ticket
from lastword.stores.contract import Store

__all__ = [
    "Attachment",
    "Busy",
    "Call",
    "Child",
    "Engine",
    "FeedEvent",
    "Generation",
    "LastwordError",
    "Message",
    "NotAllowed",
    "NotWaiting",
    "Outcome",
    "Policy",
    "QueueFull",
    "Reason",
    "Receipt",
    "Refused",
    "Run",
    "Runtime",
    "RuntimeClosed",
    "Session",
    "Shown",
    "SlowWatcher",
    "StaleRun",
    "Status",
    "Store",
    "Superseded",
    "Ticket",
    "Token",
    "means_stop",
]
