#!/usr/bin/env bash
# `Retry-After`, and requests that are not idempotent, in HTTP clients that repeat failed requests
#
# One would guess: a client or plugin that repeats requests after 429 and 503 waits as long as `Retry-After` asks, and does not repeat a
# POST unless told so for POST.
# What happens: got, ky, axios-retry, retry-axios and the RetryAgent of undici wait. ofetch, wretch, fetch-retry, superagent and
# make-fetch-happen ignore `Retry-After` and come back after their own delay. wretch, fetch-retry, superagent, and ofetch with a number
# of retries, also repeat a POST after 429 and 503. ofetch without the number repeats a GET only.
# Whom it hurts: users of APIs with rate limits: with five of the ten clients, each refusal causes the next. A POST that had its effect
# before a proxy sent 503 (a new webhook, a payment) has it twice.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  axios@1.21.1 axios-retry@4.5.0 fetch-retry@6.0.0 got@14.6.6 ky@1.14.3 make-fetch-happen@15.0.6 \
  ofetch@1.5.1 retry-axios@4.0.3 superagent@10.4.2 undici@7.22.0 wretch@2.11.1
cat > finding.mjs <<'JS'
import { createServer } from "node:http";
import axios from "axios";
import axiosRetry from "axios-retry";
import fetchRetry from "fetch-retry";
import got from "got";
import ky from "ky";
import makeFetchHappen from "make-fetch-happen";
import { ofetch } from "ofetch";
import * as retryAxios from "retry-axios";
import superagent from "superagent";
import { Agent, RetryAgent, request } from "undici";
import wretch from "wretch";
import { retry } from "wretch/middlewares";

const CLIENTS = {
  got: (url, method) => got(url, { method }),
  ky: (url, method) => ky(url, { method }),
  "axios-retry": (url, method) => {
    const client = axios.create();
    axiosRetry(client, { retries: 2 });
    return client({ url, method });
  },
  "retry-axios": (url, method) => {
    const client = axios.create();
    client.defaults.raxConfig = { instance: client };
    retryAxios.attach(client);
    return client({ url, method });
  },
  "undici, RetryAgent": async (url, method) => (await request(url, { method, dispatcher: new RetryAgent(new Agent()) })).body.text(),
  ofetch: (url, method) => ofetch(url, { method }),
  "ofetch, retry: 2": (url, method) => ofetch(url, { method, retry: 2 }),
  wretch: (url, method) => wretch(url).middlewares([retry({ maxAttempts: 2 })]).fetch(method).res(),
  "fetch-retry, retryOn": (url, method) => fetchRetry(fetch, { retryOn: [429, 503] })(url, { method }),
  "superagent, retry(2)": (url, method) => superagent(method, url).retry(2),
  "make-fetch-happen": (url, method) => makeFetchHappen(url, { method, retry: { retries: 2, minTimeout: 100 } }),
};

/** Refuses the first request, which is to be repeated after 4 seconds; returns what the client does. */
async function behaviour(send, method, status) {
  const times = [];
  const server = createServer((message, response) => {
    message.resume();
    message.on("end", () => {
      times.push(Date.now());
      if (times.length === 1) response.writeHead(status, { "retry-after": "4" });
      response.end("{}");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const outcome = Promise.resolve(send(`http://127.0.0.1:${server.address().port}/`, method)).catch(() => {});
  await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, 12_000))]);
  server.closeAllConnections();
  server.close();
  if (times.length === 1) return "gives up";
  return times[1] - times[0] > 3_800 ? "waits" : "early";
}

const EXPECTED = {
  got: "waits, waits, gives up, gives up",
  ky: "waits, waits, gives up, gives up",
  "axios-retry": "waits, waits, gives up, gives up",
  "retry-axios": "waits, waits, gives up, gives up",
  "undici, RetryAgent": "waits, waits, gives up, gives up",
  ofetch: "early, early, gives up, gives up",
  "ofetch, retry: 2": "early, early, early, early",
  wretch: "early, early, early, early",
  "fetch-retry, retryOn": "early, early, early, early",
  "superagent, retry(2)": "early, early, early, early",
  "make-fetch-happen": "early, early, gives up, gives up",
};
console.log(`Node.js ${process.version}`);
console.log(`${"Retry-After: 4".padEnd(24)}GET 429, GET 503, POST 429, POST 503`);
const rows = await Promise.all(
  Object.entries(CLIENTS).map(async ([name, send]) => {
    const cases = [["GET", 429], ["GET", 503], ["POST", 429], ["POST", 503]];
    return [name, (await Promise.all(cases.map(([method, status]) => behaviour(send, method, status)))).join(", ")];
  }),
);
for (const [name, seen] of rows) console.log(`${name.padEnd(24)}${seen}`);
const isAsFound = JSON.stringify(Object.fromEntries(rows)) === JSON.stringify(EXPECTED);
if (!isAsFound) console.log("The behaviour has changed.");
process.exit(isAsFound ? 0 : 1);
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
