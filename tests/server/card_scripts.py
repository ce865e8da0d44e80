"""Cards of questions and programs, as scripts that put them on a page."""

# cards of questions, one below the other; what was answered is in `window.answered`
CARDS = """async (names) => {
  await import("/assets/question.js");
  const table = document.createElement("main");
  document.body.replaceChildren(table);
  window.answered = [];
  window.ask = (id) => {
    const card = document.createElement("lw-question");
    const lines = [{ mark: " ", text: "make" }];
    const choices = [{ label: "Allow", allow: true }, { label: "Deny", allow: false }];
    const words = { asks: "wants to run", kind: "command", summary: "", notes: [] };
    table.append(card);
    const answer = async () => {
      window.answered.push(id);
      card.remove();
      if (id === "last") window.ask("next"); // in the same place
    };
    card.show({ id, tool: "shell", ...words, lines, choices }, answer, () => 0);
  };
  for (const name of names) window.ask(name);
}"""

# the card of a program that waits for commands; those that were let are in `window.given`
PROGRAM_CARD = """async (commands) => {
  await import("/assets/program.js");
  const card = document.createElement("lw-program");
  document.body.replaceChildren(card);
  window.given = [];
  const answer = async (_, { allow }) => window.given.push(allow);
  const doing = { answer, end: () => {}, may: () => true, scrolled: () => 0 };
  const words = { tool: "shell", asks: "wants to run", kind: "command", notes: [], choices: [] };
  window.show = (commands, summary = "") => {
    const pending = commands.map((text) => {
      return { call: text, ...words, summary, lines: [{ mark: " ", text }] };
    });
    card.show({ id: "cell", generation: 1, source: "", pending }, false, doing);
  };
  window.show(commands);
}"""

# one card as the page shows it, of a question that is told; the answer is in `window.answered`
CARD = """async (question) => {
  await import("./assets/question.js");
  const card = document.createElement("lw-question");
  const table = document.createElement("div"); // beside what the page itself keeps in order
  table.className = "column";
  table.append(card);
  const scroller = document.querySelector(".scroller");
  scroller.replaceChildren(table);
  window.answered = [];
  const answer = async (choice) => window.answered.push(choice);
  card.show(question, answer, () => scroller.scrollTop);
}"""
