"""A stream that ends says so, also when its end comes with its last event."""

from lastword import Runtime
from lastword.core.entries import Text
from lastword.core.model import RunId
from tests.server.client import served, upto
from tests.server.engines import echo


async def test_who_watches_is_told_the_end_that_comes_in_the_step_of_the_last_event() -> None:
    async with Runtime(echo) as runtime, served(runtime) as client:
        await client.send("s", "hello")
        async with client.events("s") as events:
            await upto(events, "snapshot")
            feed = runtime.session("s").feed
            feed.append(Text(RunId("s#2"), "the last"), runtime.session("s").generation)
            feed.close()
            seen = await upto(events, "closed")
        assert [event["text"] for event in seen][-2:] == ["the last", "shutdown"]
