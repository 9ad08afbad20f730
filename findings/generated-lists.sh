#!/usr/bin/env bash
# A query parameter with `explode: false` in clients that are generated from an OpenAPI document
#
# One would guess: `style: form, explode: false` makes `types=a,b` of the list [a, b], as the specification shows it, in each generated
# client; a comma inside of a value is escaped, so that the server can separate the values.
# What happens: @hey-api/openapi-ts and oazapfts do so. swagger-typescript-api, openapi-typescript-codegen and openapi-fetch ignore
# `explode` and send `types=a&types=b`. orval sends `types=a%2Cb`, where the comma between values looks like one inside of a value. All six
# agree about a list without `explode`.
# Whom it hurts: APIs that filter by lists: a server that follows its own document and splits at commas gets other values from four of
# six clients. Documents without `explode: false` avoid it.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @hey-api/openapi-ts@0.99.0 oazapfts@7.5.0 @oazapfts/runtime@1.2.0 orval@8.38.0 \
  swagger-typescript-api@13.13.0 openapi-typescript-codegen@0.31.0 openapi-fetch@0.17.0 typescript@5.9.3 esbuild@0.25.12
cat > api.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Transactions", "version": "1" },
  "servers": [{ "url": "http://127.0.0.1" }],
  "paths": {
    "/transactions": {
      "get": {
        "operationId": "list",
        "parameters": [
          { "name": "ids", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } },
          { "name": "types", "in": "query", "explode": false, "schema": { "type": "array", "items": { "type": "string" } } }
        ],
        "responses": { "200": { "description": "ok", "content": { "application/json": { "schema": { "type": "object" } } } } }
      }
    }
  }
}
JSON
npx openapi-ts -i api.json -o hey -c @hey-api/client-fetch -p @hey-api/typescript @hey-api/sdk > generators.log 2>&1
npx oazapfts api.json oazapfts.ts >> generators.log 2>&1
npx swagger-typescript-api generate -p api.json -o swagger >> generators.log 2>&1
npx openapi -i api.json -o codegen >> generators.log 2>&1
cat > orval.config.mjs <<'JS'
export default { api: { input: "./api.json", output: { target: "./orval.ts", client: "fetch", baseUrl: "http://127.0.0.1" } } };
JS
npx orval --config orval.config.mjs >> generators.log 2>&1
cat > finding.ts <<'TS'
import createClient from "openapi-fetch";
import { DefaultService } from "./codegen/index.ts";
import { list as heyList } from "./hey/sdk.gen.ts";
import { list as oazapftsList } from "./oazapfts.ts";
import { list as orvalList } from "./orval.ts";
import { Api } from "./swagger/Api.ts";

const query = { ids: ["a", "b"], types: ["a", "b,c"] };
let url = "";
globalThis.fetch = async (request) => {
  url = request instanceof Request ? request.url : String(request);
  return Response.json({});
};
const CLIENTS: Record<string, () => Promise<unknown>> = {
  "@hey-api/openapi-ts": () => heyList({ query }),
  oazapfts: () => oazapftsList(query),
  orval: () => orvalList(query),
  "swagger-typescript-api": () => new Api({ baseUrl: "http://127.0.0.1" }).transactions.list(query),
  "openapi-typescript-codegen": () => DefaultService.list(query.ids, query.types) as unknown as Promise<unknown>,
  "openapi-fetch": () => createClient<any>({ baseUrl: "http://127.0.0.1" }).GET("/transactions", { params: { query } }),
};
const seen: Record<string, string> = {};
for (const [name, send] of Object.entries(CLIENTS)) {
  await send();
  seen[name] = url.split("?")[1] ?? "";
}
console.log(`Node.js ${process.version}, ids ["a","b"], types ["a","b,c"]`);
for (const [name, text] of Object.entries(seen)) console.log(`${name.padEnd(30)}${text}`);
const repeated = "ids=a&ids=b&types=a&types=b%2Cc";
const expected = {
  "@hey-api/openapi-ts": "ids=a&ids=b&types=a,b%2Cc",
  oazapfts: "ids=a&ids=b&types=a,b%2Cc",
  orval: "ids=a&ids=b&types=a%2Cb%2Cc",
  "swagger-typescript-api": repeated,
  "openapi-typescript-codegen": repeated,
  "openapi-fetch": repeated,
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
TS
npx esbuild finding.ts --bundle --platform=node --format=esm --log-level=error --outfile=finding.mjs \
  --banner:js='import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
npm ls --depth=0 | tail -n +2
node finding.mjs
