/** Sign in, operations and their refusals, with the real program. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import {
  apiUrlOf,
  type Running,
  runUniknode,
  spawnUniknode,
} from "../../../test-support/process/uniknode.ts";

const TOKEN = "console-test";
const folder = mkdtempSync(join(tmpdir(), "uniknode-console-"));
let node: Running;
let url: string;
/** Link of the first screen. */
let firstCode: string;

beforeAll(async () => {
  const options = ["--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN];
  node = spawnUniknode(["dev", "--data", join(folder, "data"), ...options]);
  [, firstCode] = (await node.printed(/Console\s+http:\S+\/console\/sign-in#code=(\S+)/)) as unknown as [
    string,
    string,
  ];
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});
afterAll(async () => {
  node.child.kill("SIGTERM");
  expect((await node.ended).code).toBe(0);
  rmSync(folder, { recursive: true });
});

type Sent = {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
  /** Address from which the request comes. */
  readonly from?: string;
};
type ApiResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: Record<string, unknown>;
};

/** Sends a request as a program that can set every header. */
const send = (path: string, { method = "GET", headers = {}, body, from }: Sent = {}): Promise<ApiResponse> =>
  new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const all = { ...(text !== undefined && { "content-type": "application/json" }), ...headers };
    const address = from !== undefined && { localAddress: from };
    const sent = request(url + path, { method, headers: all, agent: false, ...address }, (response) => {
      let received = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
      response.on("end", () => {
        const isJson = String(response.headers["content-type"]).includes("json");
        const json = isJson ? (JSON.parse(received) as Record<string, unknown>) : {};
        resolve({ status: response.statusCode ?? 0, headers: response.headers, json });
      });
    });
    sent.on("error", reject).end(text);
  });

/** Text of the response to a path, which is sent unchanged. */
function sendRaw(path: string, method: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    let received = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
    socket.on("error", reject).on("close", () => resolve(received));
    const lines = Object.entries({ host, connection: "close", ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  });
}

const signIn = (body: object, headers: Record<string, string> = {}) =>
  send("/console/session", { method: "POST", body, headers });

const cookieOf = ({ headers }: ApiResponse): string =>
  present(headers["set-cookie"]?.[0]?.split(";")[0], "a cookie");

/** Both secrets of a session, as a page of the console sends them with reads. */
const secretsOf = (response: ApiResponse) => ({
  cookie: cookieOf(response),
  "x-session-key": String(response.json.key),
});
type Secrets = ReturnType<typeof secretsOf>;

/** Headers that a browser sends from a page of the console. */
const fromPage = (secrets: Secrets) => ({ ...secrets, origin: url, "sec-fetch-site": "same-origin" });

async function makeCode(): Promise<string> {
  const { stdout } = await runUniknode(["console", "--url", url, "--token", TOKEN, "--json"]);
  return present((JSON.parse(stdout) as { url: string }).url.split("#code=")[1], "a code");
}

const WEBHOOK = {
  event: "block.applied",
  target: "http://127.0.0.1:1/",
  conditions: [{ key: "id", condition: "ne", value: "" }],
};

describe("signing in", () => {
  test("The link of the first screen signs in once.", async () => {
    const response = await signIn({ code: firstCode });
    expect([response.status, response.json]).toEqual([
      200,
      { signedIn: true, expiresAt: expect.any(Number), key: expect.stringMatching(/^[\w-]{43}$/) },
    ]);
    expect(response.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^uniknode_console_\d+=[\w-]{43}; Max-Age=43200; HttpOnly; SameSite=Strict; Path=\/console$/,
      ),
    ]);
    expect(cookieOf(response)).toContain(`uniknode_console_${new URL(url).port}=`);
    expect(cookieOf(response)).not.toContain(response.json.key);
    const again = await signIn({ code: firstCode });
    expect([again.status, again.json]).toMatchObject([401, { code: "CODE_WRONG" }]);
  });

  test("The command uniknode console prints another link, with the token only.", async () => {
    expect((await signIn({ code: await makeCode() })).status).toBe(200);
    const { code, stderr } = await runUniknode(["console", "--url", url, "--token", "wrong"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("uniknode token")]);
  });

  test("Only the right token signs in.", async () => {
    expect((await signIn({ token: TOKEN })).status).toBe(200);
    expect((await signIn({ token: `${TOKEN}x` })).json).toMatchObject({ code: "TOKEN_WRONG" });
  });

  test.each([{}, { code: "a", token: "b" }, { code: 7 }, { token: "x".repeat(513) }, { other: 1 }])(
    "%j is refused",
    async (body) => {
      expect((await signIn(body)).status).toBe(422);
    },
  );

  test("A page of another origin cannot sign a browser in.", async () => {
    for (const headers of [{ origin: "http://evil.example" }, { host: "evil.example" }]) {
      expect((await signIn({ token: TOKEN }, headers)).json).toMatchObject({ code: "CROSS_SITE" });
    }
  });

  test("The node returns the session, and ends it on sign out.", async () => {
    const about = {
      devChain: true,
      onDemand: false,
      eventsPublic: false,
      network: "uniknode-dev",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    };
    expect((await send("/console/session")).json).toEqual({ signedIn: false, ...about });
    const headers = secretsOf(await signIn({ token: TOKEN }));
    const signedIn = await send("/console/session", { headers });
    expect(signedIn.json).toEqual({ signedIn: true, expiresAt: expect.any(Number), ...about });
    const out = await send("/console/session", { method: "DELETE", headers: fromPage(headers) });
    expect(out.headers["set-cookie"]?.[0]).toMatch(/^uniknode_console_\d+=; Max-Age=0;/);
    expect((await send("/console/session", { headers })).json).toMatchObject({ signedIn: false });
  });
});

describe("operations of a session", () => {
  const OPERATIONS = "/console/operations";
  let session: Secrets;
  beforeAll(async () => {
    session = secretsOf(await signIn({ token: TOKEN }));
  });

  test("Options of the start are shown without secrets.", async () => {
    const headers = secretsOf(await signIn({ token: TOKEN }));
    const response = await send(`${OPERATIONS}/api/operations/options`, { headers });
    const { data } = response.json as { data: { option: string; value?: unknown }[] };
    expect(data.find(({ option }) => option === "webhookToken")).toMatchObject({ value: "***" });
    expect(data.find(({ option }) => option === "webhookLimit")).toMatchObject({ origin: "default" });
    expect(JSON.stringify(data)).not.toContain(TOKEN);
    expect((await send("/api/operations/options", { headers })).status).toBe(401);
  });

  test("Each operation is below both prefixes of the API, and an unknown one is not the page.", async () => {
    for (const prefix of ["/api", "/api/v2"]) {
      const response = await send(`${OPERATIONS}${prefix}/webhooks`, { headers: session });
      expect([prefix, response.status, response.json]).toMatchObject([prefix, 200, { data: [] }]);
    }
    const unknown = await send(`${OPERATIONS}/api/nothing`, { headers: session });
    expect([unknown.status, unknown.json]).toMatchObject([404, { code: "PATH_UNKNOWN" }]);
  });

  test.each(["/api/v2/webhooks", "/api/webhooks", "/api/operations/node", "/metrics"])(
    "%s requires both secrets of a session",
    async (path) => {
      expect((await send(OPERATIONS + path, { headers: session })).status).toBe(200);
      const refused = await send(OPERATIONS + path, { headers: { authorization: TOKEN } });
      expect([refused.status, refused.json]).toMatchObject([401, { code: "SESSION_MISSING" }]);
    },
  );

  test("A page of the console registers and removes webhooks, and runs commands of the dev chain.", async () => {
    const headers = fromPage(session);
    const made = await send(`${OPERATIONS}/api/v2/webhooks`, { method: "POST", headers, body: WEBHOOK });
    expect(made.status).toBe(201);
    const { id } = made.json.data as { id: number };
    const removed = await send(`${OPERATIONS}/api/v2/webhooks/${id}`, { method: "DELETE", headers });
    expect(removed.status).toBe(200);
    const mined = await send(`${OPERATIONS}/api/v2/dev/mine`, {
      method: "POST",
      headers,
      body: { blocks: 2 },
    });
    expect((mined.json.data as { applied: unknown[] }).applied).toHaveLength(2);
  });

  test.each([
    ["without Sec-Fetch-Site", ({ "sec-fetch-site": _, ...own }: Record<string, string>) => own],
    ["from another site", (own: Record<string, string>) => ({ ...own, "sec-fetch-site": "cross-site" })],
    [
      "from another port of this machine",
      (own: Record<string, string>) => ({ ...own, "sec-fetch-site": "same-site" }),
    ],
    ["with a foreign Origin", (own: Record<string, string>) => ({ ...own, origin: "http://evil.example" })],
    ["with a foreign Host", (own: Record<string, string>) => ({ ...own, host: "evil.example" })],
  ])("A change %s is refused.", async (_what, change) => {
    const headers = change(fromPage(session));
    const response = await send(`${OPERATIONS}/api/v2/webhooks`, { method: "POST", headers, body: WEBHOOK });
    expect([response.status, response.json]).toMatchObject([403, { code: "CROSS_SITE" }]);
  });

  test("A change that is not JSON is refused.", async () => {
    const headers = { ...fromPage(session), "content-type": "text/plain" };
    const response = await send(`${OPERATIONS}/api/v2/webhooks`, { method: "POST", headers, body: WEBHOOK });
    expect(response.json).toMatchObject({ code: "UNSUPPORTED_CONTENT_TYPE" });
  });

  test("No page of another origin can read or send a preflight, signed in or not.", async () => {
    for (const path of ["/console/session", "/console/", `${OPERATIONS}/metrics`]) {
      const headers = { ...session, origin: "http://127.0.0.1:1" };
      const response = await send(path, { headers });
      const preflight = await send(path, {
        method: "OPTIONS",
        headers: { ...headers, "access-control-request-method": "POST" },
      });
      for (const { headers } of [response, preflight]) {
        expect(Object.keys(headers).filter((name) => name.startsWith("access-control-allow"))).toEqual([]);
      }
      expect([404, 405]).toContain(preflight.status);
    }
  });

  test.each([
    "/%63onsole/session",
    "/c%6Fnsole/operations/api/v2/webhooks",
    "/%2563onsole/session",
    "//console/session",
    "/console//session",
    "/./console/session",
    "/api/../console/session",
    "/%2e%2e/console/session",
    "/console/%2e%2e/console/session",
    "/console/..%2fconsole/session",
    "/%2fconsole/session",
    "/\\console/session",
    "/\\console\\session",
    "/CONSOLE/session",
    "/Console/Session",
    "/console;x/session",
    "/console",
    "/console?x=1",
    "/console/%",
    "/%63onsole/%zz",
    "http://a/console/session",
    "http://a/%63onsole/session",
  ])("Another spelling of the path does not help: %s.", async (path) => {
    const headers = { ...session, origin: "http://127.0.0.1:1" };
    for (const method of ["GET", "OPTIONS"]) {
      const response = await sendRaw(path, method, headers);
      expect([method, response.match(/^access-control-allow-\S+/gim)]).toEqual([method, null]);
      if (method === "OPTIONS") expect(response).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
  });

  test("Paths of the API that look similar are open to every page.", async () => {
    const paths = [
      "/api/console",
      "/consoles",
      "/api/v2/blocks?x=/console/",
      "/api/v2/wallets/console",
      "/x/console",
    ];
    for (const path of paths) {
      const response = await sendRaw(path, "OPTIONS", { origin: "http://127.0.0.1:1" });
      expect([path, response]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 200 /)]);
      expect(response).toMatch(/^access-control-allow-origin: http:\/\/127\.0\.0\.1:1/im);
    }
  });

  test("A page of another name of the network cannot read the operations.", async () => {
    const response = await send(`${OPERATIONS}/api/v2/webhooks`, {
      headers: { ...session, host: "evil.example" },
    });
    expect(response.json).toMatchObject({ code: "CROSS_SITE" });
  });

  test("The cookie grants nothing without the key, nor the key without the cookie.", async () => {
    const { cookie, "x-session-key": key } = session;
    const { "x-session-key": otherKey } = secretsOf(await signIn({ token: TOKEN }));
    const page = { origin: url, "sec-fetch-site": "same-origin" };
    for (const secrets of [
      { cookie },
      { "x-session-key": key },
      { cookie, "x-session-key": "" },
      { cookie, "x-session-key": present(cookie.split("=")[1], "a value") },
      { cookie, "x-session-key": otherKey },
      { cookie, "x-session-key": `${key}, ${key}` },
      { cookie: `${cookie}; x-session-key=${key}` },
      { cookie: cookie.replace(/_\d+=/, "="), "x-session-key": key },
      { cookie: cookie.replace(/_\d+=/, "_1="), "x-session-key": key },
    ]) {
      const headers = { ...page, ...secrets } as Record<string, string>;
      const read = await send(`${OPERATIONS}/api/v2/webhooks`, { headers });
      const change = { method: "POST", headers, body: WEBHOOK };
      const changed = await send(`${OPERATIONS}/api/v2/webhooks`, change);
      const about = await send("/console/session", { headers });
      const out = await send("/console/session", { method: "DELETE", headers });
      expect([read.status, changed.status, about.json.signedIn, out.status]).toEqual([401, 401, false, 200]);
    }
    const still = await send("/console/session", { headers: session });
    expect(still.json).toMatchObject({ signedIn: true });
  });

  test("Cookies of a server on another port do not sign out.", async () => {
    const { cookie, ...key } = session;
    const [name] = cookie.split("=");
    for (const cookies of [
      `${name}=junk; ${cookie}`,
      `${cookie}; ${name}=`,
      `${name}; ;=; ${name}==; ${cookie}`,
    ]) {
      const response = await send("/console/session", { headers: { ...key, cookie: cookies } });
      expect([cookies, response.json.signedIn]).toEqual([cookies, true]);
    }
  });

  test("A session grants nothing elsewhere.", async () => {
    for (const path of ["/api/v2/webhooks", "/api/v2/events", "/api/v2/dev/mine"]) {
      const method = path.endsWith("mine") ? "POST" : "GET";
      expect((await send(path, { method, headers: fromPage(session) })).status).toBe(401);
    }
    expect((await send("/console/links", { method: "POST", headers: fromPage(session) })).status).toBe(401);
  });
});

describe("the first page", () => {
  test("A browser is redirected to the console, and a program gets the old response.", async () => {
    const browser = await send("/", { headers: { accept: "text/html,*/*;q=0.8" } });
    expect([browser.status, browser.headers.location]).toEqual([302, "/console/"]);
    expect((await send("/", { headers: { accept: "*/*" } })).json).toEqual({ data: "Hello World!" });
    expect((await send("/console")).headers.location).toBe("/console/");
  });

  test("The page and its script are served as they were built.", async () => {
    const built = fileURLToPath(new URL("../../../../console/dist/", import.meta.url));
    const page = await (await fetch(`${url}/console/`)).text();
    expect(page).toBe(readFileSync(`${built}index.html`, "utf8"));
    const [, path = ""] = /src="\/console\/([^"]+)"/.exec(page) ?? [];
    const script = await fetch(`${url}/console/${path}`, { headers: { "accept-encoding": "br" } });
    expect(script.headers.get("content-encoding")).toBe("br");
    expect(await script.text()).toBe(readFileSync(built + path, "utf8"));
  });

  test("Without the console the old page is served, and nothing below /console.", async () => {
    const data = join(folder, "without");
    const other = spawnUniknode(["dev", "--data", data, "--http-port", "0", "--console", "off"]);
    try {
      const base = await apiUrlOf(other);
      await other.printed(/Ctrl-C stops/);
      expect(other.stdout()).not.toContain("/console");
      const page = await fetch(`${base}/`, { headers: { accept: "text/html" } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<h1>Uniknode</h1>")]);
      for (const path of ["/console/", "/console/session", "/console/operations/metrics"]) {
        expect((await fetch(base + path)).status).toBe(404);
      }
      const { code, stderr } = await runUniknode(["console", "--url", base, "--data", data]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("--console on")]);
    } finally {
      other.child.kill("SIGTERM");
      await other.ended;
    }
  });
});

test("The pages of another site do not use up the attempts to sign in.", async () => {
  const foreign = { origin: "http://evil.example", "content-type": "text/plain" };
  const paths = ["/console/session", "/console/links"];
  const from = "127.9.9.8";
  for (let attempt = 0; attempt < 30; attempt++)
    for (const path of paths)
      expect((await send(path, { method: "POST", headers: foreign, from })).status).toBe(403);
  expect((await send("/console/session", { method: "POST", body: { token: TOKEN }, from })).status).toBe(200);
});

test("The rate of sign-in attempts is limited.", async () => {
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < 25; attempt++) statuses.add((await signIn({ code: "guess" })).status);
  expect(statuses).toEqual(new Set([401, 429]));
});

test("Requests of one client without a session are limited, independently of those of a session.", async () => {
  const path = "/console/operations/api/operations/options";
  const from = "127.9.9.9";
  const headers = secretsOf(await send("/console/session", { method: "POST", body: { token: TOKEN }, from }));
  const statuses = new Set<number>();
  for (let sent = 0; sent < 310; sent++) statuses.add((await send(path, { from })).status);
  expect(statuses).toEqual(new Set([401, 429]));
  expect((await send(path, { headers, from })).status).toBe(200);
});
