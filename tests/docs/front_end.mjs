// Drives the files that docs/how-to/front-end.md shows, against a server: node front_end.mjs FOLDER URL TOKEN.
// It prints one object of what was seen.

const [folder, url, token] = process.argv.slice(2);
const { lines } = await import(`${folder}/picture.js`);
const { watch } = await import(`${folder}/with-event-source.js`);
const { follow } = await import(`${folder}/with-fetch.js`);
const { send, stop } = await import(`${folder}/talk.js`);

const session = `${url}/v1/sessions/shown`;
const asked = []; // the Last-Event-ID of each request for events
const fetched = globalThis.fetch;
globalThis.fetch = async (where, how) => {
  const answer = await fetched(where, how);
  if (!String(where).endsWith("/events")) return answer;
  asked.push(how.headers["Last-Event-ID"] ?? "");
  return asked.length === 1 ? new Response(brokenOff(answer.body), answer) : answer;
};
console.warn = () => {};

/** The first connection breaks after some of it. */
async function* pieces(body) {
  let many = 0;
  for await (const piece of body) {
    yield piece;
    if (++many === 8) throw new Error("the connection broke");
  }
}
const brokenOff = (body) => ReadableStream.from(pieces(body));

/** Waits until a picture that is drawn is as it should be. */
function drawn() {
  const waiting = [];
  let now = [];
  return {
    draw(picture) {
      now = lines(picture);
      for (const one of waiting.splice(0)) (one.is(now) ? one.met(now) : waiting.push(one));
    },
    until: (is) => (is(now) ? now : new Promise((met) => waiting.push({ is, met }))),
  };
}

const leaving = new AbortController();
const byFetch = drawn();
const bySource = drawn();
const following = follow(`${session}/events`, token, byFetch.draw, leaving.signal);
await byFetch.until(() => asked.length === 1);
await send(session, token, "count");
await byFetch.until((shown) => asked.length > 1 && /\b60 /.test(shown[1]));
const receipt = await stop(session, token);
const ended = (shown) => shown.some((line) => line.startsWith("receipt: "));
const shown = await byFetch.until(ended);
let watched = null;
if (token === "") {
  const source = watch(`${session}/events`, bySource.draw);
  watched = await bySource.until(ended);
  source.close();
}
leaving.abort();
await following;
console.log(JSON.stringify({ shown, watched, asked, quiet: receipt.quiet, words: receipt.words }));
