"""Run by the tests of the page, in Node or in the page: parts of it by themselves, where a server
would not help."""

# a run says something, is stopped, and is heard again after that; everything is heard twice
FENCED = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  let state = blank("s"), number = 0;
  const hear = (kind, run, text, data, generation) => {
    const event = { id: `e-${++number}`, kind, run, text, data, generation, at: number };
    state = reduce(state, { type: "event", event });
    state = reduce(state, { type: "event", event }); // everything is heard twice
    return event;
  };
  const said = () => state.items.find((item) => item.kind === "turn").parts[0].text;
  hear("accepted", "s#1", "hi", { id: "m", text: "hi" }, 1);
  hear("started", "s#1", "", { messages: ["m"] }, 1);
  hear("text", "s#1", "one ", null, 1);
  state = reduce(state, { type: "stop", at: 9, sent: [] });
  hear("text", "s#1", "held ", null, 1);
  const silent = said() === "one ";
  const late = { id: "e-0", kind: "text", run: "s#1", text: "missed ", generation: 1, at: 3 };
  hear("missed", null, "", { events: [late] }, 2);
  hear("ended", "s#1", "stopped", { messages: ["m"], outcome: "stopped", started: true }, 2);
  hear("text", "s#1", "LATE ", null, 1);
  hear("call", "s#1", "", { call: "c", name: "x", status: "begun", arguments: "{}" }, 1);
  hear("typing", "s#1", "", { on: true }, 1);
  hear("accepted", "s#2", "no", { id: "n", text: "no" }, 2);
  hear("started", "s#2", "", { messages: ["n"] }, 3);
  const receipt = { generation: 2, reason: "stopped", fenced_at: 6, runs: ["s#1"], quiet: false };
  hear("stopped", null, "", { ...receipt, unconfirmed: [{ kind: "run", name: "s#1" }] }, 2);
  hear("settled", null, "", { ...receipt, quiet: true, unconfirmed: [] }, 2);
  const order = state.items.map((item) => item.kind).join(" ");
  const { quiet } = state.items.find((item) => item.kind === "receipt").receipt;
  return { silent, said: said(), typing: state.typing, order, quiet };
}"""

# a text that grows by so many characters at a time, beside the same text at once
CHUNKED = r"""async () => {
  const { Markdown } = await import("./assets/markdown.js");
  const { pace } = await import("./assets/pace.js");
  const drawn = async () => {
    while (!pace.idle) await new Promise((wake) => setTimeout(wake));
  };
  const text = "# H\n\ntext *it* **b** `c`\n\n- a\n- b\n  - c\n\n  more of b\n\n1. x\n2. y\n\n" +
    "```js\nlet a = 1;\n\nb\n```\nafter\n> q\n> r\n\n|a|b|\n|-|:-:|\n|1|2|\n\nend <b>x</b> " +
    "[l](https://a.b/c_(d)) https://x.y/z. _u_ __v__ ~~w~~ snake_case **un\n***\nlast";
  const lines = (element) => { // code that was not closed yet is in pieces, and that is not seen
    for (const code of element.querySelectorAll("pre code")) code.textContent += "";
  };
  const shape = ({ data, localName, attributes = [], childNodes }) => {
    if (data !== undefined) return data; // a text
    const about = [...attributes].map(({ name, value }) => `${name}=${value}`).sort();
    return [localName, about, [...childNodes].map(shape)];
  };
  const whole = document.createElement("div");
  new Markdown(whole).show(text);
  await drawn();
  lines(whole);
  const different = [];
  for (const size of [1, 2, 3, 5, 7, 11]) {
    const grown = document.createElement("div");
    const markdown = new Markdown(grown);
    for (let end = size; end < text.length + size; end += size) {
      markdown.show(text.slice(0, end));
      await drawn();
    }
    lines(grown);
    const [here, there] = [grown, whole].map((one) => JSON.stringify(shape(one)));
    if (here !== there) different.push([size, grown.textContent]);
  }
  return different;
}"""

# long code as it comes, by itself and in a list: whether its box shows the newest line, and whether
# it lets the person read an earlier one; and how the columns of a table are aligned
FOLLOWED = r"""async () => {
  const { Markdown } = await import("./assets/markdown.js");
  const element = document.createElement("div");
  element.className = "text";
  document.querySelector(".scroller").append(element); // the page keeps its column in order
  const line = (_, number) => `  line ${number}\n`;
  const lines = (length) => Array.from({ length }, line).join("");
  const frame = () => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  const told = [];
  for (const before of ["```\n", "1. so:\n\n   ```\n"]) {
    const markdown = new Markdown(element);
    const away = () => {
      const box = element.querySelector("pre");
      return Math.round(box.scrollHeight - box.scrollTop - box.clientHeight);
    };
    for (const count of [20, 60, 120]) {
      markdown.show(before + lines(count));
      await frame();
    }
    told.push(away() < 3 && element.querySelector("pre").scrollTop > 0);
    element.querySelector("pre").scrollTop = 10;
    await frame();
    await frame();
    markdown.show(before + lines(140));
    await frame();
    told.push(element.querySelector("pre").scrollTop === 10);
    element.replaceChildren();
  }
  new Markdown(element).show("a|b|c|d\n-|:-|:-:|-:\n1|2|3|4");
  await frame();
  const cells = [...element.querySelectorAll("td")].map((cell) => getComputedStyle(cell).textAlign);
  element.remove();
  return [told, cells];
}"""

# what each of these texts costs, all at once and piece by piece: steps and nodes for a character,
# and how many steps were ever taken before the page listened again
COSTS = r"""async (floods) => {
  const { Markdown } = await import("./assets/markdown.js");
  const { pace } = await import("./assets/pace.js");
  const drawn = async () => {
    while (!pace.idle) await new Promise((wake) => setTimeout(wake));
  };
  const told = {};
  for (const [name, text] of Object.entries(floods)) {
    const element = document.createElement("div");
    const whole = new Markdown(element);
    whole.show(text);
    await drawn();
    const piecewise = new Markdown(document.createElement("div"));
    let pieces = 0;
    for (let end = 40; end < Math.min(text.length, 20000); end += 400, pieces++) {
      piecewise.show(text.slice(0, end));
      await drawn();
    }
    const nodes = element.querySelectorAll("*").length;
    told[name] = { steps: whole.steps / text.length, piece: piecewise.steps / pieces, nodes };
  }
  return { told, most: pace.most };
}"""

# a log of which a part was there and the rest is fetched, cut at every entry, beside all of it
OLDER = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  const log = [];
  const add = (kind, about) => {
    const number = log.length + 1;
    log.push({ number, at: number, kind, ...about });
  };
  for (const run of ["s#1", "s#2", "s#3"]) {
    const message = { id: `m ${run}`, text: `to ${run}` }, call = `c ${run}`;
    add("said", { message, run });
    add("began", { run, generation: log.length, messages: [message.id] });
    add("thinking", { run, text: "hm" });
    add("text", { run, text: "one " });
    add("text", { run, text: "two" });
    add("called", { run, call, name: "shell", arguments: '{"command": "ls"}', nature: "" });
    add("result", { run, call, status: "completed", content: "a b", error: false });
    add("text", { run, text: "three" });
    add("finished", { run, outcome: "stopped", messages: [message.id], started: true });
    add("receipt", { generation: log.length, reason: "stopped", runs: [run], quiet: true });
  }
  const session = { id: "s", title: "to s#1", generation: 9, state: "idle" };
  const seen = (entries) => {
    const rest = { queue: [], questions: [], processes: [], messages: [], active: null };
    const event = { id: "e-1", kind: "snapshot", data: { session, entries, more: true, ...rest } };
    return reduce(blank("s"), { type: "event", event });
  };
  const part = ({ kind, text, name, status }) => [kind, text, name, status];
  const drawn = ({ items, messages, pending }) => {
    const all = items.map(({ key, outcome, parts }) => [key, outcome, parts?.map(part)]);
    return JSON.stringify([all, Object.keys(messages).sort(), pending]);
  };
  const whole = drawn(seen(log));
  const cuts = log.map((_, cut) => cut).slice(1);
  return cuts.filter((cut) => {
    const some = seen(log.slice(cut));
    const entries = log.slice(0, cut);
    const all = reduce(some, { type: "older", entries, more: false, messages: [] });
    return drawn(all) !== whole;
  });
}"""

# the words of a message that was said before the entries that a snapshot, or a page of the log, has
SAID_BEFORE = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  const session = { id: "s", title: "", generation: 9, state: "idle" };
  const rest = { queue: [], questions: [], processes: [], active: null, more: true };
  const turn = (number, run, id) => [
    { number, at: 1, kind: "began", run, generation: number, messages: [id] },
    { number: number + 1, at: 1, kind: "finished", run, outcome: "completed", messages: [id] },
  ];
  const data = { session, entries: turn(8, "s#2", "n"), messages: [{ id: "n", text: "new" }] };
  const event = { id: "e-1", kind: "snapshot", data: { ...data, ...rest } };
  const seen = reduce(blank("s"), { type: "event", event });
  const messages = [{ id: "o", text: "old" }];
  const older = { type: "older", entries: turn(6, "s#1", "o"), messages, more: true };
  const { items, messages: words, pending } = reduce(seen, older);
  const said = items.filter((item) => item.kind === "message").map(({ id }) => words[id].text);
  return [items.map((item) => item.kind), said, pending];
}"""

# a program stands still; its answers are sent, the run that brings them fails, or they arrive: for
# each order in which that is heard, whether the program can be answered
ANSWERED = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  const { isAnswered, standing } = await import("./assets/program-facts.js");
  const cell = { id: "c", run: "s#1", kind: "pausable", standing: "paused", generation: 1 };
  const heard = (number, kind, run, data, text) => {
    const event = { id: `e-${number}`, kind, run, data, text, generation: 1, at: number };
    return { type: "event", event };
  };
  const sent = { type: "answering", cell: "c", generation: 1, run: "s#2" };
  const failed = heard(2, "ended", "s#2", { messages: [], started: true }, "failed");
  const next = heard(2, "cell", "s#2", { ...cell, run: "s#2", generation: 2 });
  const open = (state) => standing(state).some((one) => !isAnswered(state, one));
  const stands = reduce(blank("s"), heard(1, "cell", "s#1", cell));
  const orders = [[], [sent], [sent, failed], [failed, sent], [sent, next], [next, sent]];
  orders.push([next, heard(3, "started", "s#2", { messages: [] })]); // it may answer by itself
  return orders.map((all) => open(all.reduce((state, one) => reduce(state, one), stands)));
}"""

# what the welcome says of a rehearsal, a model, an engine of somebody's own, and to a stranger
WELCOME = """async () => {
  const { welcome } = await import("./assets/welcome.js");
  const said = (me) => {
    const all = document.createElement("div");
    all.append(...welcome(me, () => {}));
    if (all.textContent.includes("rehearsal")) return "a rehearsal";
    return all.querySelector("button") ? "tries" : "neither";
  };
  return [{ agent: "rehearsal" }, { agent: "a-model" }, { agent: "" }, null].map(said);
}"""

# whether all that is written in the message box can be seen
UNSCROLLED = """() => {
  const box = document.querySelector("lw-composer textarea");
  return box.scrollHeight <= box.clientHeight + 1;
}"""

# a log in which calls waited for a person: allowed, denied, and withdrawn by a stop
WAITED = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  const { lanesOf } = await import("./assets/timeline-lanes.js");
  const { Call } = await import("./assets/calls.js");
  const entries = [], run = "s#1";
  const add = (at, kind, about) => {
    entries.push({ number: entries.length + 1, at, kind, run, ...about });
  };
  add(1, "began", { generation: 1, messages: [] });
  for (const call of ["a", "b", "c"]) {
    add(2, "called", { call, name: "shell", arguments: "{}", nature: "" });
    add(2, "asked", { call, tool: "shell", subject: "ls" });
  }
  add(5, "answered", { call: "a", allowed: true, by: "ann", scope: "this" });
  add(6, "answered", { call: "b", allowed: false, by: "local", scope: "" });
  add(6.5, "result", { call: "a", status: "completed", content: "x", error: false });
  add(6, "result", { call: "b", status: "not started", content: "", error: false });
  add(7, "result", { call: "c", status: "not started", content: "", error: false });
  add(7, "finished", { outcome: "stopped", messages: [], started: true });
  const session = { id: "s", title: "", generation: 9, state: "idle" };
  const rest = { queue: [], questions: [], processes: [], messages: [], active: null };
  const seen = (some) => {
    const data = { session, entries: some, more: true, ...rest };
    return reduce(blank("s"), { type: "event", event: { id: "e-1", kind: "snapshot", data } });
  };
  const told = (state) => {
    const parts = state.items.find((item) => item.kind === "turn").parts;
    const tags = parts.map((part) => {
      const view = new Call();
      view.show(part, false, {}, "");
      return view.element.querySelector(".tag").textContent;
    });
    const waits = lanesOf(state, 1, 9)[0].spans.filter((span) => span.kind === "wait");
    return [tags, waits.map(({ tell, a, b }) => [tell[1], a, b])];
  };
  const some = entries.slice(0, 6);
  const older = { type: "older", entries: some, messages: [], more: false };
  return [told(seen(entries)), told(reduce(seen(entries.slice(6)), older))];
}"""

# texts read in steps of every size, beside JSON.parse; and whether a name of an object's does harm
READ_IN_PIECES = r"""async (texts) => {
  const { Reader } = await import("./assets/json.js");
  const tried = (read) => {
    try {
      return JSON.stringify(read());
    } catch (error) {
      return error.name;
    }
  };
  const inPieces = (text, steps) => {
    const reader = new Reader(text);
    while (!reader.read(steps));
    return reader.value;
  };
  const different = [];
  for (const text of texts)
    for (const steps of [1, 100, 1e9])
      if (tried(() => inPieces(text, steps)) !== tried(() => JSON.parse(text)))
        different.push([text.slice(0, 100), steps]);
  const polluted = inPieces('{"__proto__": {"mine": 1}}', 1);
  return [different, polluted.mine === undefined, {}.mine === undefined];
}"""

# an event of megabytes, as a stream brings it: whether it is whole, and the longest text of it that
# was read at once
LONG_EVENT = r"""async () => {
  const { Stream } = await import("./assets/wire.js");
  const entry = (_, number) => ({ number, kind: "text", text: `"${number}\\ `.repeat(900) });
  const event = { id: "a-1", kind: "snapshot", data: Array.from({ length: 700 }, entry) };
  const text = JSON.stringify(event);
  const { fetch, JSON: { parse } } = window;
  let most = 0;
  JSON.parse = (some) => {
    most = Math.max(most, some.length);
    return parse(some);
  };
  window.fetch = async () => new Response(`id: a-1\ndata: ${text}\n\n`);
  const heard = await new Promise((done, failed) => {
    const stream = new Stream("s", {
      event: (event) => (stream.close(), done(event)),
      link: () => {},
      problem: failed,
    });
  });
  window.fetch = fetch;
  JSON.parse = parse;
  return [text.length > 4e6, JSON.stringify(heard) === text, most];
}"""

# an answer of very many calls: how many are drawn in one task at most, first and when they change;
# whether all are there in the end, as they are, and whether one far from the screen is laid out
MANY_CALLS = r"""async (many) => {
  const { Turn } = await import("./assets/turn.js");
  const { pace } = await import("./assets/pace.js");
  const turn = new Turn(), place = document.createElement("div");
  place.className = "column";
  place.append(turn.element);
  document.querySelector(".scroller").replaceChildren(place);
  const tasks = { first: [], later: [] };
  let now = tasks.first;
  new MutationObserver((changes) => {
    const added = changes.flatMap((one) => [...one.addedNodes]);
    const touched = changes.map((one) => one.target.parentElement?.closest(".call"));
    now.push(new Set([...added, ...touched].filter((one) => one?.matches?.(".call"))).size);
  }).observe(turn.element, { childList: true, subtree: true, characterData: true });
  const call = (status, number) => ({
    kind: "call", call: `c${number}`, name: "read_file", arguments: `{"path": "${number}"}`,
    status, content: "x", error: false, nature: "", output: "", at: 1, began: 1, until: 2,
  });
  const show = async (parts, outcome) => {
    const about = { run: "s#1", generation: 1, outcome, error: "", rollback: false, fencedAt: 0 };
    turn.show({ ...about, parts }, { live: !outcome, mark: false, messages: {}, asked: "" });
    while (!pace.idle) await new Promise((soon) => setTimeout(soon));
  };
  const begun = Array.from({ length: many }, (_, number) => call("begun", number));
  await show(begun, "");
  now = tasks.later;
  await show(begun.map((_, number) => call("completed", number)), "completed");
  for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
  const seen = [...turn.element.querySelectorAll(".call")];
  return {
    first: Math.max(...tasks.first),
    later: Math.max(...tasks.later),
    whole: seen.every((one, at) => one.dataset.call === `c${at}` && one.matches(".done")),
    many: seen.length,
    laidOut: seen.at(-1).querySelector("b").checkVisibility({ contentVisibilityAuto: true }),
  };
}"""
