#!/usr/bin/env bash
# `lastEventId` of an event without an id, and lines without a colon, in clients of server-sent events
#
# One would guess: after an event with the id 7, `lastEventId` of the next event, which has none, is "7" as well, as in every browser.
# A line `data` without a colon adds an empty line to the data, and a line `id` without a colon forgets the id: for the HTML standard
# both have an empty value.
# What happens: in eventsource 3 and 4, eventsource-client 1 and @microsoft/fetch-event-source, the next event has an empty `lastEventId`
# (or no `id`). eventsource 2 and @microsoft/fetch-event-source lose the empty line, and keep the forgotten id: their next request has
# `Last-Event-ID: 7`.
# Whom it hurts: applications that store `event.lastEventId` after each event in order to continue there after a restart: with these
# clients they store an empty position, and start over. Texts of several lines change if their empty lines are sent as `data`.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  eventsource2@npm:eventsource@2.0.2 eventsource3@npm:eventsource@3.0.7 eventsource4@npm:eventsource@4.1.1 eventsource-client@1.2.0 \
  launchdarkly-eventsource@2.2.0 event-source-polyfill@1.0.31 @microsoft/fetch-event-source@2.0.1
cat > finding.mjs <<'JS'
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchEventSource } from "@microsoft/fetch-event-source";
import polyfill from "event-source-polyfill";
import EventSource2 from "eventsource2";
import { EventSource as EventSource3 } from "eventsource3";
import { EventSource as EventSource4 } from "eventsource4";
import { createEventSource } from "eventsource-client";
import launchdarkly from "launchdarkly-eventsource";

// One of the clients expects a browser.
globalThis.window ??= globalThis;
globalThis.document ??= { addEventListener() {}, removeEventListener() {} };

const CLIENTS = {
  "eventsource 2.0.2": (url, onEvent) => listen(new EventSource2(url), onEvent),
  "eventsource 3.0.7": (url, onEvent) => listen(new EventSource3(url), onEvent),
  "eventsource 4.1.1": (url, onEvent) => listen(new EventSource4(url), onEvent),
  "eventsource-client 1.2.0": (url, onEvent) => {
    const source = createEventSource({ url, onMessage: onEvent });
    return () => source.close();
  },
  "launchdarkly-eventsource 2.2.0": (url, onEvent) => listen(new launchdarkly.EventSource(url), onEvent),
  "event-source-polyfill 1.0.31": (url, onEvent) => listen(new polyfill.EventSourcePolyfill(url), onEvent),
  "@microsoft/fetch-event-source 2.0.1": (url, onEvent) => {
    const ended = new AbortController();
    fetchEventSource(url, { signal: ended.signal, openWhenHidden: true, onmessage: onEvent }).catch(() => {});
    return () => ended.abort();
  },
};

function listen(source, onEvent) {
  source.onmessage = onEvent;
  source.onerror = () => {};
  return () => source.close();
}

/** Sends a text to the first request, and holds the second one; returns what the client made of it. */
async function receive(text, follow) {
  const events = [];
  const ids = [];
  const server = createServer((request, response) => {
    ids.push(request.headers["last-event-id"] ?? new URL(request.url, "http://host").searchParams.get("lastEventId"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(ids.length === 1 ? text : ": nothing\n\n");
    if (ids.length === 1) setTimeout(() => response.destroy(), 200);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = follow(`http://127.0.0.1:${server.address().port}/`, ({ data, lastEventId, id }) => {
    if (data !== "") events.push([data, lastEventId ?? id ?? ""]);
  });
  await sleep(6_000);
  end();
  server.closeAllConnections();
  server.close();
  return { events, nextId: ids[1] ?? "" };
}

/** `lastEventId` of the second event; data of three lines; id of the request after `id` without a colon. */
const EXPECTED = {
  "eventsource 2.0.2": ["7", "a\nb", "7"],
  "eventsource 3.0.7": ["", "a\n\nb", ""],
  "eventsource 4.1.1": ["", "a\n\nb", ""],
  "eventsource-client 1.2.0": ["", "a\n\nb", ""],
  "launchdarkly-eventsource 2.2.0": ["7", "a\n\nb", ""],
  "event-source-polyfill 1.0.31": ["7", "a\n\nb", ""],
  "@microsoft/fetch-event-source 2.0.1": ["", "a\nb", "7"],
};
console.log(`Node.js ${process.version}`);
const rows = await Promise.all(
  Object.entries(CLIENTS).map(async ([name, follow]) => {
    const [inherited, lines, forgotten] = await Promise.all(
      [
        "retry: 100\nid: 7\ndata: x\n\ndata: y\n\n",
        "retry: 100\ndata: a\ndata\ndata: b\n\n",
        "retry: 100\nid: 7\ndata: x\n\nid\ndata: y\n\n",
      ].map((text) => receive(text, follow)),
    );
    return [name, [inherited.events[1]?.[1], lines.events[0]?.[0], forgotten.nextId]];
  }),
);
let isSame = true;
for (const [name, seen] of rows) {
  isSame &&= JSON.stringify(seen) === JSON.stringify(EXPECTED[name]);
  console.log(`${name.padEnd(38)} ${JSON.stringify(seen)}`);
}
process.exit(isSame ? 0 : 1);
JS
node finding.mjs 2> errors.log
