#!/usr/bin/env bash
# Parsers of server-sent events that read lines ending with CR LF, if a packet ends between the two characters
#
# One would guess: a parser of event streams has the same events wherever the network cuts the bytes, because joining chunks is what such a
# parser is for. All of them join the `data` lines of an event.
# What happens: if a chunk ends between CR and LF, event-stream-parser and parse-sse read the LF as an empty line, which ends the event. After
# the line `event` this loses the type: listeners of "transaction.applied" are not called. After the first of two lines `data` there are
# two events instead of one. event-source-plus keeps only the last line `data` of each event, however it is cut. The other five are right.
# Whom it hurts: readers of streams of servers and proxies that write CR LF, which the standard allows: now and then an event loses its
# type or is cut in two. With event-source-plus a server must never send more than one line `data`: indented JSON arrives as "}".
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts event-stream-parser@1.0.2 parse-sse@0.1.0 event-source-plus@0.1.15 \
  eventsource-parser@4.1.3 @azure/core-sse@2.4.0 fetch-event-stream@0.1.6 @server-sent-stream/web@1.0.3 fetch-sse@1.2.1
cat > finding.mjs <<'JS'
import { setTimeout as sleep } from "node:timers/promises";
import { createSseStream } from "@azure/core-sse";
import serverSentStream from "@server-sent-stream/web";
import { EventSourcePlus } from "event-source-plus";
import { parse } from "event-stream-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { events } from "fetch-event-stream";
import { fetchEventData } from "fetch-sse";
import { parseServerSentEvents } from "parse-sse";

const EventSourceStream = serverSentStream.default ?? serverSentStream;

/** A body that arrives in these chunks. */
const bodyOf = (chunks) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
const responseOf = (chunks) => new Response(bodyOf(chunks), { headers: { "content-type": "text/event-stream" } });

const PARSERS = {
  "@azure/core-sse 2.4.0": (chunks) => createSseStream(bodyOf(chunks)),
  "@server-sent-stream/web 1.0.3": (chunks) => bodyOf(chunks).pipeThrough(new EventSourceStream()),
  "eventsource-parser 4.1.3": (chunks) =>
    bodyOf(chunks).pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()),
  "fetch-event-stream 0.1.6": (chunks) => events(responseOf(chunks)),
  "fetch-sse 1.2.1": async (chunks) => {
    const received = [];
    const onMessage = (event) => event && received.push(event);
    globalThis.fetch = async () => responseOf(chunks);
    await fetchEventData("http://127.0.0.1/", { onMessage });
    return received;
  },
  "event-stream-parser 1.0.2": (chunks) => parse(bodyOf(chunks)),
  "parse-sse 0.1.0": (chunks) => parseServerSentEvents(responseOf(chunks)),
  "event-source-plus 0.1.15": async (chunks) => {
    const received = [];
    const fetch = async () => responseOf(chunks);
    const source = new EventSourcePlus("http://127.0.0.1/", { fetch, retryStrategy: "on-error" });
    const controller = source.listen({ onMessage: (event) => received.push(event) });
    await sleep(300);
    controller.abort();
    return received;
  },
};

async function read(name, chunks) {
  const received = [];
  for await (const { type, event, data } of await PARSERS[name](chunks)) received.push(`${type ?? (event || "message")}: ${data}`);
  return received.map((text) => text.replaceAll("\n", "|")).join(", ");
}

const stream = Buffer.from('id: 1\r\nevent: transaction.applied\r\ndata: {"amount":\r\ndata: "5"}\r\n\r\ndata: last\r\n\r\n');
const right = 'transaction.applied: {"amount":|"5"}, message: last';
const cuts = [...stream.keys()].filter((index) => stream[index] === 0x0a);
const cutLine = (index) => stream.subarray(0, index).toString().trimEnd().split("\r\n").at(-1);

console.log(`Node.js ${process.version}\nright: ${right}`);
const wrong = {};
for (const name of Object.keys(PARSERS)) {
  const whole = await read(name, [stream]);
  wrong[name] = whole === right ? 0 : -1;
  console.log(`${name}: whole ${whole === right ? "as it should be" : whole}`);
  if (whole !== right) continue;
  for (const index of cuts) {
    const seen = await read(name, [stream.subarray(0, index), stream.subarray(index)]);
    if (seen === right) continue;
    wrong[name]++;
    console.log(`  cut before the LF of the line '${cutLine(index)}': ${seen}`);
  }
}
const expected = { "event-stream-parser 1.0.2": 2, "parse-sse 0.1.0": 2, "event-source-plus 0.1.15": -1 };
if (Object.keys(PARSERS).some((name) => wrong[name] !== (expected[name] ?? 0))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
node finding.mjs
