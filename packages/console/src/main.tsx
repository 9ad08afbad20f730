/** Builds the context of all screens and mounts the application. */
import "./style/index.ts";
import { effect } from "@preact/signals";
import { createClient } from "@uniknode/client";
import { render } from "preact";
import { createFeed } from "./data/feed.ts";
import { createClock, type Node, NodeContext } from "./data/node.ts";
import { createResponseCache } from "./data/response-cache.ts";
import { Frame } from "./frame/frame.tsx";
import { readTheme } from "./frame/theme.ts";
import { holdRequests } from "./session/held-requests.ts";
import { shareKey, tabStorage } from "./session/key.ts";
import { createSession } from "./session/session.ts";

readTheme();

/** Short timeout, because a page requests again with the next head. */
const options = { retries: 1, maxWaitMs: 2_000 };
const api = createClient({ ...options, url: location.origin });
const key = shareKey(tabStorage(), new BroadcastChannel("uniknode-session"), readSession);
const withKey = key.sendWith(fetch.bind(globalThis));
const responses = createResponseCache();
const feed = createFeed(api, responses, () => document.hidden);
const session = createSession(withKey, key, () => responses.forget());
const heldRequests = holdRequests(withKey, session);
const operations = createClient({
  ...options,
  url: `${location.origin}/console/operations`,
  fetch: heldRequests.send,
});
const nowMs = createClock(feed.clockOffsetMs);
const node: Node = { ...feed, responses, api, operations, session, heldRequests, withKey, nowMs };

const never = new AbortController().signal;
void feed.run(never);
void session.read();
document.addEventListener("visibilitychange", feed.poll);
effect(() => {
  if (!session.state.value?.signedIn || session.isLost.value) return;
  const stream = new AbortController();
  void feed.listen(operations.events.stream, stream.signal);
  return () => stream.abort();
});

/** Called after a sign-in or sign-out in another tab. */
async function readSession(): Promise<void> {
  await session.read();
  responses.forget();
}

render(
  <NodeContext.Provider value={node}>
    <Frame />
  </NodeContext.Provider>,
  document.body,
);
