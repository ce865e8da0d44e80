// Signing in: by the link that was printed where the server was started, or by a token.

import { h } from "./dom.js";
import { keep, taken } from "./key.js";
import { call } from "./wire.js";

let useless = ""; // why the link that was opened is of no use

/** By the link in the address, if there is one. Who is signed in already stays so. */
export async function enter() {
  const code = await taken();
  if (!code) return;
  try {
    keep((await call("POST", "v1/keys", { code })).key);
  } catch (problem) {
    useless = `${problem.title}.`;
  }
}

/** Where somebody without a link types their token. */
export function signInForm() {
  const token = h("input", {
    type: "password",
    autocomplete: "current-password",
    "aria-label": "Token",
    placeholder: "or your token",
    required: true,
  });
  const said = h("span", { role: "status" }, useless);
  const form = h("form", { class: "signin" }, token, h("button", { class: "go" }, "Sign in"), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const key = token.value.trim();
    try {
      await call("GET", "v1/me", undefined, key);
      keep(key);
      location.reload();
    } catch (problem) {
      said.textContent = problem.status === 401 ? "Nobody is known by that token." : problem.title;
      token.select();
    }
  });
  return form;
}
