import { expect, onTestFinished, test } from "vitest";
import { shareKey } from "../../src/session/key.ts";

/** Tab: its storage, which survives a reload, and the requests that it has sent. */
function openTab(stored?: string) {
  const values = new Map(stored === undefined ? [] : [["uniknode-session-key", stored]]);
  const storage = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  };
  const channel = new BroadcastChannel("uniknode-session-test");
  onTestFinished(() => channel.close());
  const changes: number[] = [];
  const key = shareKey(storage, channel, () => void changes.push(1));
  async function sent(init?: RequestInit): Promise<Record<string, string>> {
    let headers: HeadersInit | undefined;
    await key.sendWith(async (_input, init) => {
      headers = init?.headers;
      return new Response();
    })("/console/session", init);
    return Object.fromEntries(new Headers(headers));
  }
  return { key, values, changes, sent };
}

test("Requests have the key in addition to their own headers, from the sign-in to the sign-out.", async () => {
  const { key, sent } = openTab();
  expect(await sent({ headers: { accept: "x" } })).toEqual({ accept: "x" });
  key.set("k");
  expect(await sent({ headers: { accept: "x" } })).toEqual({ accept: "x", "x-session-key": "k" });
  key.set(undefined);
  expect(await sent()).toEqual({});
});

test("A reload keeps the key, and a tab that opens later receives it.", async () => {
  expect(await openTab("k").sent()).toEqual({ "x-session-key": "k" });
  const { sent, changes, values } = openTab();
  await expect.poll(sent).toEqual({ "x-session-key": "k" });
  expect([changes.length, values.size]).toEqual([1, 1]);
});

test("Tabs follow a sign-in and a sign-out, without repeating them.", async () => {
  const [one, other] = [openTab(), openTab()];
  one.key.set("k");
  await expect.poll(other.sent).toEqual({ "x-session-key": "k" });
  other.key.set(undefined);
  await expect.poll(one.sent).toEqual({});
  // A repetition would arrive before this.
  one.key.set("later");
  await expect.poll(other.sent).toEqual({ "x-session-key": "later" });
  expect([one.changes.length, other.changes.length]).toEqual([1, 2]);
});

test("Without storage the key lasts as long as the page.", async () => {
  const channel = new BroadcastChannel("uniknode-session-test");
  onTestFinished(() => channel.close());
  const key = shareKey(undefined, channel, () => {});
  key.set("k");
  let names: string[] = [];
  await key.sendWith(async (_input, init) => {
    names = [...new Headers(init?.headers).keys()];
    return new Response();
  })("/console/session");
  expect(names).toEqual(["x-session-key"]);
});
