/** Floods of requests that cost more than they look: bodies, pages, operations and the console. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { TOKEN } from "../../actors/dev-chain.ts";
import type { Attack, Attacker } from "../attacker.ts";
import type { Target } from "../node.ts";
import { inTurn, type Request, WITH_TOKEN } from "../requests.ts";

const MIB = 1024 * 1024;
const DEPTH = 4_500;
const EMPTY_OBJECTS = 340_000;
const SLOWLY = { atOnce: 4, pauseMs: 20 };

const flood = (
  requests: (target: Target) => readonly Request[],
  pace: Parameters<Attacker["repeat"]>[0] = {},
): Attack => ({
  async run(attacker) {
    const next = inTurn(requests(attacker.target));
    await attacker.repeat({ atOnce: 16, pauseMs: 5, ...pace }, () => attacker.send(next()));
  },
});

function deepBodies(): readonly Request[] {
  const nested = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
  const members = Array.from({ length: 80_000 }, (_, index) => `"k${index}":0`).join(",");
  return [
    `{"transactions":[${nested},[${Array(EMPTY_OBJECTS).fill("{}").join(",")}]]}`,
    `{"transactions":[{${members}}]}`,
    `{"transactions":[${"9".repeat(MIB - 100)}]}`,
  ].map((body) => ({ path: "/api/transactions", body }));
}

function compressedBodies(): readonly Request[] {
  const plain = Buffer.alloc(50 * MIB, " ");
  const request = { path: "/api/transactions" };
  return [
    { ...request, headers: { "content-encoding": "gzip" }, body: gzipSync(plain) },
    { ...request, headers: { "content-encoding": "br" }, body: brotliCompressSync(plain) },
  ];
}

const LISTS = [
  ...["transactions", "blocks", "wallets", "uniks", "delegates", "votes", "locks"],
  "rounds/1/delegates",
];
const EXTREMES = [
  ...["page=9007199254740991", "page=18446744073709551616", "page=-1", "page=1000000&limit=100"],
  ...["limit=100000000", "offset=9007199254740991", "offset=-1&limit=100"],
  ...["after=AAAA", `after=${"A".repeat(4_000)}`, "orderBy=amount:desc&page=90000"],
  ...["orderBy=timestamp:asc&limit=100&page=99999", "fields=%00"],
];

/** Requests below `/console`, most of which no limit of the API counts. */
function consoleRequests({ httpPort }: Target): readonly Request[] {
  const cookie = `uniknode_console_${httpPort}=${"A".repeat(43)}; `;
  const headers = { cookie: cookie.repeat(100), "x-session-key": "A".repeat(43) };
  const operations = ["api/v2/webhooks", "api/v2/events", "metrics"].map((path) => `operations/${path}`);
  const signIn = (secret: object) => ({ path: "/console/session", body: JSON.stringify(secret) });
  return [
    ...["br", "gzip", "identity", "br;q=0.5, *;q=0"].map((encoding) => ({
      path: "/console/blocks",
      headers: { "accept-encoding": encoding },
    })),
    { path: `/console/${"a/".repeat(1_000)}` },
    { path: "/console/assets/none.js" },
    ...["session", ...operations].map((path) => ({ path: `/console/${path}`, headers })),
    signIn({ code: "A".repeat(43) }),
    signIn({ token: "A".repeat(512) }),
    // More sessions than the limit.
    signIn({ token: TOKEN }),
    { path: "/console/links", body: "{}", headers: WITH_TOKEN },
  ];
}

export const REQUESTS: Readonly<Record<string, Attack>> = {
  /** 1 MB of nested arrays, empty objects, members and digits in POST /api/transactions. */
  "deep bodies": flood(deepBodies, SLOWLY),
  "compressed bodies": flood(compressedBodies, SLOWLY),
  "20,000 addresses": flood(() => [{ path: "/api/v2/blockchain" }], { pauseMs: 2, times: 20_000 }),
  "extreme pages": flood(
    () => EXTREMES.flatMap((query) => LISTS.map((list) => ({ path: `/api/v2/${list}?${query}` }))),
    { atOnce: 8 },
  ),
  "operations flood": flood(() =>
    ["/health/status", "/health/ready", "/metrics"].map((path) => ({ path, headers: WITH_TOKEN })),
  ),
  "console flood": flood(consoleRequests),
};
