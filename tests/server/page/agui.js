// AG-UI's own client, driven by tests: a line of JSON for each thing to do, and one for each event that
// it lets through, or for how a run of its own ended. What it finds wrong with a stream ends the run.

import process from "node:process";
import { createInterface } from "node:readline";

const [, , library, streams] = process.argv;
const { AbstractAgent, HttpAgent } = await import(library);
const { from } = await import(streams);
const tell = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);
const agents = new Map();

function known({ agent, url, thread, token }) {
  const made = new HttpAgent({ url, threadId: thread, headers: { Authorization: `Bearer ${token}` } });
  if (!agents.has(agent)) agents.set(agent, made);
  return agents.get(agent);
}

async function run(asked) {
  const { agent, say, parameters } = asked;
  const one = known(asked);
  one.url = asked.url;
  if (say) one.addMessage({ role: "user", ...say });
  const heard = { onEvent: ({ event }) => tell({ agent, event: { ...event, rawEvent: undefined } }) };
  const end = await one.runAgent(parameters, heard).then(
    (result) => ({ result }),
    (error) => ({ failed: String(error.message) }),
  );
  tell({ agent, end: { ...end, messages: one.messages } });
}

// what it makes of a stream that is there already
class Given extends AbstractAgent {
  constructor(events) {
    super({ threadId: "t" });
    this.events = events;
  }

  run() {
    return from(this.events);
  }
}

async function hear({ agent, events }) {
  const one = new Given(events);
  const failed = await one.runAgent().then(
    () => null,
    (error) => String(error.message),
  );
  tell({ agent, end: { failed, messages: one.messages } });
}

const doing = { run, hear, abort: ({ agent }) => agents.get(agent).abortRun() };
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  void doing[asked.does](asked);
}
