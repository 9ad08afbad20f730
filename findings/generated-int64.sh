#!/usr/bin/env bash
# Clients that are generated from an OpenAPI document with `format: int64`, and an amount above 2^53
#
# One would guess: if a generator turns int64 into the type `bigint`, the client reads and sends such integers exactly. A schema that is
# generated for int64 accepts every integer of 64 bits.
# What happens: the clients parse with `JSON.parse` first. @hey-api/openapi-ts with its transformers makes a bigint of the rounded number,
# and sends a bigint as text, which a server with `type: integer` refuses; its Zod schema accepts the rounded number. orval with
# `useBigInt` changes the types only: the value is a rounded number, so that `balance + 1n` throws although it compiles, and a request
# with a bigint throws. The Zod schema of kubb refuses integers above 2^53 - 1.
# Whom it hurts: wallets and bookkeeping on APIs with 64-bit amounts: the compiler agrees, and amounts are off by a few units.
# Publish amounts as text, or read the text of the response before it is parsed.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @hey-api/openapi-ts@0.99.0 orval@8.38.0 \
  @kubb/cli@4.39.3 @kubb/core@4.39.3 @kubb/plugin-oas@4.39.3 @kubb/plugin-ts@4.39.3 @kubb/plugin-zod@4.39.3 \
  zod@4.6.7 typescript@5.9.3 esbuild@0.25.12
cat > api.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Wallets", "version": "1" },
  "servers": [{ "url": "http://127.0.0.1" }],
  "paths": {
    "/wallet": {
      "get": {
        "operationId": "getWallet",
        "responses": {
          "200": { "description": "ok", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Wallet" } } } }
        }
      },
      "post": {
        "operationId": "setWallet",
        "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Wallet" } } } },
        "responses": {
          "200": { "description": "ok", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Wallet" } } } }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "Wallet": {
        "type": "object",
        "required": ["balance"],
        "properties": { "balance": { "type": "integer", "format": "int64" } }
      }
    }
  }
}
JSON
cat > openapi-ts.config.mjs <<'JS'
export default {
  input: "./api.json",
  output: "./hey",
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", { name: "@hey-api/sdk", transformer: true }, "@hey-api/transformers", "zod"],
};
JS
cat > orval.config.mjs <<'JS'
export default {
  wallets: { input: "./api.json", output: { target: "./orval/client.ts", client: "fetch", baseUrl: "http://127.0.0.1", override: { useBigInt: true } } },
};
JS
cat > kubb.config.mjs <<'JS'
import { defineConfig } from "@kubb/core";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";
import { pluginZod } from "@kubb/plugin-zod";

export default defineConfig({
  root: ".",
  input: { path: "./api.json" },
  output: { path: "./kubb" },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginZod()],
});
JS
npx openapi-ts > generators.log 2>&1
npx orval --config orval.config.mjs >> generators.log 2>&1
npx kubb generate --config kubb.config.mjs >> generators.log 2>&1
cat > finding.ts <<'TS'
import { createServer } from "node:http";
import { client } from "./hey/client.gen.ts";
import * as hey from "./hey/sdk.gen.ts";
import { zWallet } from "./hey/zod.gen.ts";
import { walletSchema } from "./kubb/zod/walletSchema.ts";
import * as orval from "./orval/client.ts";

const bodies: string[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (bytes) => (body += bytes));
  request.on("end", () => {
    if (request.method === "POST") bodies.push(body);
    response.setHeader("content-type", "application/json");
    response.end('{"balance":9007199254740993}');
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
client.setConfig({ baseUrl });
const original = fetch;
globalThis.fetch = (url, init) => original(typeof url === "string" ? url.replace("http://127.0.0.1/", `${baseUrl}/`) : url, init);

const show = (value: unknown) => `${typeof value} ${String(value)}`;
const outcome = async (action: () => unknown) => {
  try {
    return show(await action());
  } catch (error) {
    return `${(error as Error).name}`;
  }
};
const received = JSON.parse('{"balance":9007199254740993}');
const seen = {
  "hey-api reads": await outcome(async () => (await hey.getWallet()).data!.balance),
  "hey-api sends": await outcome(async () => {
    await hey.setWallet({ body: { balance: 9007199254740993n } });
    return bodies.at(-1);
  }),
  "hey-api, Zod": await outcome(() => zWallet.parse(received).balance),
  // The annotation is what the compiler believes.
  "orval reads": await outcome(async () => ((await orval.getWallet()).data as { balance: bigint }).balance),
  "orval adds 1n": await outcome(async () => ((await orval.getWallet()).data as { balance: bigint }).balance + 1n),
  "orval sends": await outcome(() => orval.setWallet({ balance: 9007199254740993n } as never)),
  "kubb, Zod": await outcome(() => walletSchema.parse(received).balance),
};
server.closeAllConnections();
server.close();
console.log(`Node.js ${process.version}, the server sent 9007199254740993:`);
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(16)}${value}`);
const expected = {
  "hey-api reads": "bigint 9007199254740992",
  "hey-api sends": 'string {"balance":"9007199254740993"}',
  "hey-api, Zod": "bigint 9007199254740992",
  "orval reads": "number 9007199254740992",
  "orval adds 1n": "TypeError",
  "orval sends": "TypeError",
  "kubb, Zod": "ZodError",
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
TS
npx esbuild finding.ts --bundle --platform=node --format=esm --log-level=error --outfile=finding.mjs
npm ls --depth=0 | tail -n +2
grep -h "balance" hey/types.gen.ts orval/client.ts | sort -u
node finding.mjs
