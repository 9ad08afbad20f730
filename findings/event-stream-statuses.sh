#!/usr/bin/env bash
# Clients of server-sent events whose server restarts behind a proxy, or says that it has ended
#
# One would guess: a client that was connected reconnects after a response 503, as it does after a broken connection: a proxy sends 503
# (or 502) while the server behind it restarts. After 204 no client reconnects, because the HTML standard says so.
# What happens: after one 503, eventsource 3 and 4 and event-source-polyfill stop for ever, as the standard asks of browsers; eventsource 2,
# eventsource-client 1, launchdarkly-eventsource and @microsoft/fetch-event-source reconnect. An upgrade from eventsource 2 to 3 changes
# it. After 204, event-source-polyfill (which logs a TypeError) and @microsoft/fetch-event-source ask again and again.
# Whom it hurts: services that follow a stream through a balancer: each deployment of the server ends some of them silently. They need a
# watch of their own that creates a new source in `onerror` when `readyState` is CLOSED. Servers that end a stream with 204 keep the load.
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

/** Connects, loses the connection after an event, gets the status once, and then the stream again, if it asks. */
async function requestsAfter(status, follow) {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    if (requests === 2 || (status === 204 && requests > 2)) response.writeHead(status).end();
    else {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("retry: 100\n\ndata: x\n\n");
      // A cut connection: a clean end has another meaning for one of the clients.
      if (requests === 1) setTimeout(() => response.destroy(), 200);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = follow(`http://127.0.0.1:${server.address().port}/`, () => {});
  await sleep(8_000);
  end();
  server.closeAllConnections();
  server.close();
  return requests;
}

const EXPECTED = {
  "eventsource 2.0.2": [true, false],
  "eventsource 3.0.7": [false, false],
  "eventsource 4.1.1": [false, false],
  "eventsource-client 1.2.0": [true, false],
  "launchdarkly-eventsource 2.2.0": [true, false],
  "event-source-polyfill 1.0.31": [false, true],
  "@microsoft/fetch-event-source 2.0.1": [true, true],
};
console.log(`Node.js ${process.version}`);
const rows = await Promise.all(
  Object.entries(CLIENTS).map(async ([name, follow]) => [
    name,
    ...(await Promise.all([503, 204].map((status) => requestsAfter(status, follow)))),
  ]),
);
let isSame = true;
for (const [name, after503, after204] of rows) {
  const seen = [after503 > 2, after204 > 2];
  isSame &&= String(seen) === String(EXPECTED[name]);
  const text = (again) => (again ? "asks again" : "stops");
  console.log(`${name.padEnd(38)} after 503: ${text(seen[0]).padEnd(10)}  after 204: ${text(seen[1])}`);
}
process.exit(isSame ? 0 : 1);
JS
node finding.mjs 2> errors.log
