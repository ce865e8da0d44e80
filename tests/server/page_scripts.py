"""Run by the tests of the page, in Node or in the page: parts of it by themselves, where a server
would not help."""

# a run says something, is stopped, and what it said until the server knew is told; all of it twice
FENCED = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  let state = blank("s"), number = 0;
  const hear = (...changes) => {
    const event = { id: `e-${++number}`, kind: "changes", generation: 1, at: number, changes };
    state = reduce(state, { type: "event", event });
    state = reduce(state, { type: "event", event }); // everything is heard twice
  };
  const run = "s#1", key = `run ${run}`;
  const turn = () => state.items.find((item) => item.kind === "turn");
  const said = () => turn().parts.map((part) => part.text ?? part.status).join("");
  const grew = (text, live) => ({ change: "grew", run, place: 0, text, at: number, live });
  const call = (status, live) => {
    const part = { kind: "call", call: "c", status, name: "x", arguments: "{}", output: "" };
    return { change: "partis", run, place: 1, part, live };
  };
  const head = { run, generation: 1, at: 1, until: 0, fenced_at: 0, outcome: "", error: "" };
  const phase = (active, typing, live) => ({
    change: "phaseis", live, phase: { generation: 1, active, typing, ending: [], level: "" },
  });
  const question = { id: "q", run, call: "c" };
  const text = { kind: "text", text: "one ", at: 3, until: 3 };
  hear({ change: "messageis", said: { id: "m", text: "hi" } });
  const message = { kind: "message", key: "message m", id: "m", outcome: "" };
  hear(
    { change: "placed", item: message, before: null },
    { change: "placed", item: { kind: "turn", key, ...head, parts: [] }, before: null },
    phase(run, false, false),
  );
  hear({ change: "partis", run, place: 0, part: text, live: true });
  state = reduce(state, { type: "stop", at: 9, sent: [] });
  hear(phase(run, true, true));
  hear(grew("held ", true));
  hear(call("begun", true));
  hear({ change: "askopened", question, live: true });
  const silent = said() === "one " && !state.typing && !state.questions.length;
  hear(call("completed", false)); // told by the session, and it follows what is held
  hear(grew("missed ", false));
  const waits = said() === "one ";
  hear({ change: "askclosed", question: "q", answer: null }, phase(null, false, false), {
    change: "turnis", head: { ...head, outcome: "stopped", until: 7 },
  });
  const heard = said();
  hear({ change: "placed", item: { kind: "note", key: "note 1", text: "x" }, before: null });
  const receipt = { generation: 2, reason: "stopped", runs: [run], quiet: false, rows: [] };
  const item = { kind: "receipt", key: "receipt 2 stopped", receipt, settled: false };
  hear({ change: "placed", item, before: "note 1" });
  const { stopping, questions } = state;
  hear({ change: "itemis", item: { ...item, settled: true } });
  const order = state.items.map((one) => one.kind).join(" ");
  const { settled } = state.items.find((one) => one.kind === "receipt");
  return { silent, waits, heard, asks: questions.length, stopping, order, settled };
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

# a log that was cut, of which the older part is fetched, and what came after is heard: as it looks
CUT = """async (cases) => {
  const { blank, reduce } = await import("./assets/state.js");
  const part = ({ kind, text, name, status, content }) => [kind, text, name, status, content];
  const drawn = ({ items, messages, pending, waits }) => {
    const all = items.map(({ key, outcome, parts }) => [key, outcome, parts?.map(part)]);
    const asked = waits.map(({ call, tool, until }) => [call, tool, until > 0]).sort();
    return JSON.stringify([all, Object.keys(messages).sort(), pending, asked]);
  };
  const hear = (state, event) => reduce(state, { type: "event", event });
  return cases.map(({ snapshot, past, events }) => {
    let state = hear(blank("s"), snapshot);
    for (const one of past) state = reduce(state, { type: "older", past: one });
    return drawn(events.reduce(hear, state));
  });
}"""

# which changes the page can apply
APPLIED = """async () => (await import("./assets/apply.js")).APPLIED"""

# a program stands still; its answers are sent, the run that brings them fails, or they arrive: for
# each order in which that is heard, whether the program can be answered
ANSWERED = """async () => {
  const { blank, reduce } = await import("./assets/state.js");
  const { isAnswered, standing } = await import("./assets/programs.js");
  const cell = { id: "c", run: "s#1", kind: "pausable", standing: "paused", generation: 1 };
  const heard = (number, ...changes) => {
    const event = { id: `e-${number}`, kind: "changes", changes, generation: 1, at: number };
    return { type: "event", event };
  };
  const program = (about) => ({ change: "programis", program: { ...cell, ...about } });
  const phase = (active) => ({
    change: "phaseis", phase: { active, generation: 1, typing: false, ending: [], level: "" },
  });
  const pending = (...messages) => ({ change: "pendingis", messages });
  const sent = { generation: 1, run: "s#2", message: "m" };
  const answering = { type: "answering", cell: "c", sent };
  const said = heard(2, { change: "messageis", said: { id: "m", text: "" } }, pending("m"));
  const began = heard(3, pending(), phase("s#2"));
  const failed = heard(4, phase(null));
  const next = heard(4, program({ run: "s#2", generation: 2 }), phase(null));
  const open = (state) => standing(state).some((one) => !isAnswered(state, one));
  const stands = reduce(blank("s"), heard(1, program({})));
  const orders = [[], [answering], [answering, said], [answering, said, began]];
  orders.push([answering, said, began, failed], [said, began, failed, answering]);
  orders.push([answering, said, began, next], [said, began, next, answering]);
  orders.push([heard(4, program({ run: "s#2" }), phase("s#2"))]); // it may answer by itself
  return orders.map((all) => open(all.reduce(reduce, stands)));
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

# a log in which calls waited for a person: allowed, denied, and withdrawn by a stop; all of it at
# once, and in two parts
WAITED = """async (cases) => {
  const { blank, reduce } = await import("./assets/state.js");
  const { lanesOf } = await import("./assets/timeline-lanes.js");
  const { Call } = await import("./assets/calls.js");
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
  return cases.map(({ snapshot, past }) => {
    const seen = reduce(blank("s"), { type: "event", event: snapshot });
    return told(past.reduce((state, one) => reduce(state, { type: "older", past: one }), seen));
  });
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

# a box at its end, in a window that becomes wider: what it has to scroll is less before anybody is
# told of it; then the person scrolls up
WIDENED = """async () => {
  const { Staying } = await import("./assets/staying.js");
  const told = [], sizes = [];
  globalThis.ResizeObserver = class {
    constructor(changed) { sizes.push(changed); }
    observe() {}
  };
  let scrolled;
  const box = { scrollTop: 0, scrollHeight: 3000, clientHeight: 800 };
  box.addEventListener = (_, listener) => (scrolled = listener);
  let pinned = true;
  const staying = new Staying(box, {}, () => null, (is) => (pinned = is));
  staying.pin();
  box.scrollTop = 2200;
  scrolled();
  told.push(pinned);
  Object.assign(box, { scrollHeight: 1800, scrollTop: 1000 });
  scrolled(); // as the browser clamped it, before its size is told
  told.push(pinned);
  sizes[0]();
  box.scrollTop = 500;
  scrolled();
  return [...told, pinned];
}"""
