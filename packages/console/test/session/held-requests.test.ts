import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { holdRequests } from "../../src/session/held-requests.ts";

/** Node that refuses requests while the session is lost. */
function start() {
  const isLost = signal(false);
  const sent: string[] = [];
  const node = { isSignedIn: true };
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    sent.push(`${init?.method ?? "GET"} ${url}`);
    return new Response(null, { status: node.isSignedIn ? 200 : 401 });
  };
  const read = async () => {
    isLost.value = !node.isSignedIn;
    return true;
  };
  return { node, sent, held: holdRequests(fetch, { isLost, read }) };
}

test("An action without a session waits for the sign-in, and is then sent again.", async () => {
  const { node, sent, held } = start();
  node.isSignedIn = false;
  const outcome = held.send("/mine", { method: "POST", signal: AbortSignal.timeout(1) });
  await expect.poll(() => held.count.value).toBe(1);
  node.isSignedIn = true;
  held.repeat();
  expect((await outcome).status).toBe(200);
  expect(sent).toEqual(["POST /mine", "POST /mine"]);
  expect(held.count.value).toBe(0);
});

test("A dropped action returns its refusal; reads never wait.", async () => {
  const { node, sent, held } = start();
  node.isSignedIn = false;
  expect((await held.send("/figures")).status).toBe(401);
  const outcome = held.send("/mine", { method: "POST" });
  await expect.poll(() => held.count.value).toBe(1);
  held.drop();
  expect((await outcome).status).toBe(401);
  expect(sent).toEqual(["GET /figures", "POST /mine"]);
});
