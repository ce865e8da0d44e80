"""Sessions over HTTP: any program can talk to an agent and stop it, and a page for people.

`app(runtime)` is an ASGI app, to be mounted or served; `lastword serve` serves one.
"""

from lastword.server.asgi import app
from lastword.server.limits import ServerLimits
from lastword.server.who import ApiToken, Right, Who

__all__ = ["ApiToken", "Right", "ServerLimits", "Who", "app"]
