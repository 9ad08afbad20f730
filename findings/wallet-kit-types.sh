#!/usr/bin/env bash
# The filter by several transaction types of the ARK wallet kits, and what reaches the API
#
# One would guess: `transactions({ types: ["transfer", "vote"] })` asks the API for the numbers of these types, as
# `transactions({ type: "transfer" })` does, and sends nothing else.
# What happens: @payvo/sdk-ark sends the names as `types.0=transfer&types.1=vote`, and no number. The APIs of ARK Core and its forks
# know no such parameters: strict ones refuse the request, lenient ones return transactions of all types. @ardenthq/sdk-ark, which
# continues it, sends the numbers to newer nodes, in one text: `type=0,3`. To nodes that it takes for old ones (their list of
# wallets refuses `nonce`) it sends the numbers as text beside the names, `{"types":["transfer","vote"],"type":"0,3","typeGroup":"1"}`,
# which a schema with an integer `type` refuses.
# Whom it hurts: nodes and API gateways that wallets of this family call, and wallets that filter their history by types: they show
# an error or an unfiltered list, although one type works.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @payvo/sdk-ark@4.6.6 @ardenthq/sdk-ark@2.2.1 esbuild@0.25.12
cat > finding.mjs <<'JS'
import * as ardent from "@ardenthq/sdk";
import { ClientService as Ardent } from "./node_modules/@ardenthq/sdk-ark/distribution/esm/client.service.js";
import * as payvo from "@payvo/sdk";
import { ClientService as Payvo } from "./node_modules/@payvo/sdk-ark/distribution/esm/client.service.js";

/** Requests of a kit for transactions; `knowsNonce`: the node accepts `nonce` as a filter of wallets, as newer nodes do. */
async function requestsOf(Client, { IoC: { BindingType } }, knowsNonce) {
  const requests = [];
  const page = { serverError: () => false, json: () => ({ meta: {}, data: [] }) };
  const respond = (method, url, body, query) => {
    const parameters = new URLSearchParams(query ?? {}).toString();
    if (url.endsWith("/wallets") && !knowsNonce) throw new Error("422");
    if (url.endsWith("/wallets")) return page;
    requests.push(`${method} ?${decodeURIComponent(parameters)} ${body ? JSON.stringify(body) : ""}`.trim());
    return page;
  };
  const bound = new Map([
    [BindingType.ConfigRepository, { get: (name) => (name === "network.id" ? "ark.devnet" : undefined) }],
    [BindingType.HttpClient, {
      get: async (url, query) => respond("GET", url, undefined, query),
      post: async (url, body, query) => respond("POST", url, body, query),
    }],
    [BindingType.NetworkHostSelector, () => ({ host: "http://node.example/api" })],
    [BindingType.DataTransferObjectService, { transactions: (data) => data }],
  ]);
  const client = new Client({ get: (name) => bound.get(name) });
  await client.transactions({ type: "transfer" });
  await client.transactions({ types: ["transfer", "vote"] });
  return requests;
}

const seen = {
  "@payvo/sdk-ark 4.6.6": await requestsOf(Payvo, payvo, true),
  "@ardenthq/sdk-ark 2.2.1, newer node": await requestsOf(Ardent, ardent, true),
  "@ardenthq/sdk-ark 2.2.1, older node": await requestsOf(Ardent, ardent, false),
};
for (const [kit, requests] of Object.entries(seen)) console.log(`${kit}\n  ${requests.join("\n  ")}`);
const expected = {
  "@payvo/sdk-ark 4.6.6": ["GET ?type=0&typeGroup=1", "GET ?types.0=transfer&types.1=vote"],
  "@ardenthq/sdk-ark 2.2.1, newer node": ["GET ?type=0&typeGroup=1", "GET ?type=0,3&typeGroup=1"],
  "@ardenthq/sdk-ark 2.2.1, older node": [
    'POST ? {"type":0,"typeGroup":1}',
    'POST ? {"types":["transfer","vote"],"type":"0,3","typeGroup":"1"}',
  ],
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error("the behaviour has changed");
  process.exit(1);
}
JS
# Node.js cannot import these packages as they are: a bundler resolves their paths without extensions.
npx esbuild finding.mjs --bundle --platform=node --format=esm --log-level=error --outfile=bundle.mjs \
  --banner:js='import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
node --version
node bundle.mjs
