#!/usr/bin/env bash
# A server that sends "100 Continue" without being asked, and the HTTP clients of Node.js
#
# One would guess: a client skips interim responses, as RFC 9110 15.2 requires: "100 Continue" like "102 Processing" and "103 Early
# Hints", whether the request had "Expect: 100-continue" or not.
# What happens: `fetch` of Node.js, and `request` and `fetch` of undici, skip 102 and 103, but fail with UND_ERR_SOCKET ("bad response")
# after 100. The request may have had its effect. node:http and all clients on top of it (axios, got, needle, superagent, node-fetch)
# return the final response.
# Whom it hurts: senders of webhooks and callers of APIs whose receiver, or a proxy before it, sends 100 for every request with a
# body. The error is that of a broken connection, so that the request is repeated and never succeeds.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error \
  undici@7.22.0 axios@1.21.1 got@14.6.6 needle@3.5.0 superagent@10.4.2 node-fetch@3.3.2
cat > finding.mjs <<'JS'
import http from "node:http";
import { createServer } from "node:net";
import axios from "axios";
import got from "got";
import needle from "needle";
import nodeFetch from "node-fetch";
import superagent from "superagent";
import * as undici from "undici";

const body = "{}";
const headers = { "content-type": "application/json" };
const viaHttp = (url) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject).end(body);
  });
const clients = {
  "node:http": viaHttp,
  axios: async (url) => (await axios.post(url, body, { headers })).status,
  got: async (url) => (await got.post(url, { body, headers, retry: { limit: 0 } })).statusCode,
  needle: async (url) => (await needle("post", url, body, { headers })).statusCode,
  superagent: async (url) => (await superagent.post(url).set(headers).send(body)).status,
  "node-fetch": async (url) => (await nodeFetch(url, { method: "POST", headers, body })).status,
  "fetch of Node.js": async (url) => (await fetch(url, { method: "POST", headers, body })).status,
  "undici request": async (url) => (await undici.request(url, { method: "POST", headers, body })).statusCode,
  "undici fetch": async (url) => (await undici.fetch(url, { method: "POST", headers, body })).status,
};

/** Sends an interim response, if any, and 50 ms later the final one. */
const serve = (interim) =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        text += bytes;
        if (!text.endsWith(body)) return;
        socket.write(interim);
        setTimeout(() => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"), 50);
      });
    }).listen(0, "127.0.0.1", () => resolve(server));
  });

let isAsFound = true;
console.log(`Node.js ${process.version}`);
for (const interim of ["", "HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"]) {
  for (const [name, send] of Object.entries(clients)) {
    const server = await serve(interim);
    const outcome = await send(`http://127.0.0.1:${server.address().port}/`).catch(
      (error) => error.code ?? error.cause?.code ?? error.name,
    );
    server.close();
    const isSurprise = interim.includes(" 100 ") && /undici|Node\.js/.test(name);
    isAsFound &&= String(outcome) === (isSurprise ? "UND_ERR_SOCKET" : "200");
    console.log(`${(interim.trim() || "no interim response").padEnd(26)}${name.padEnd(18)}${outcome}`);
  }
}
if (!isAsFound) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
