/** Wrong requests of clients, on a real node: each error names the thing, the reason and the next step. */

import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const TOKEN = "the token of the operator";
const JSON_BODY = { "content-type": "application/json" };

type Request = {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
type ApiResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly statusCode?: number; readonly code?: string; readonly message?: string };
};

const folder = mkdtempSync(join(tmpdir(), "uniknode-wrong-"));
let node: Running;
let url: URL;

beforeAll(async () => {
  const fixed = ["dev", "--data", folder, "--http-port", "0", "--webhook-token", TOKEN];
  const environment = { ...process.env, UNIKNODE_WEBHOOK_PRIVATE_TARGETS: "false" };
  node = spawnUniknode([...fixed, "--block-time", "2"], { environment });
  const address = await apiUrlOf(node);
  url = new URL(address);
  await node.printed(/Ctrl-C stops/);
  const { status } = await ask("/api/v2/webhooks", post(WEBHOOK));
  expect(status).toBe(201);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

/** Sends the path unchanged: `fetch` would normalise it, and refuse some methods. */
function ask(path: string, { method = "GET", body, headers = {} }: Request = {}): Promise<ApiResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>();
  const call = request({ hostname: url.hostname, port: url.port, path, method, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, body: text === "" ? {} : JSON.parse(text) });
    });
  });
  call.on("error", reject);
  call.end(body);
  return promise;
}

const authorization = { authorization: TOKEN };
const get = { headers: authorization };
const send = (
  method: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = JSON_BODY,
): Request => ({
  method,
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { ...authorization, ...headers },
});
const post = (body: unknown, headers?: Readonly<Record<string, string>>) => send("POST", body, headers);
const put = (body: unknown) => send("PUT", body);
/** Without the token: the routes of the old node need none. */
const search = (body: unknown, type = "application/json") => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "content-type": type },
});

const WEBHOOK = {
  event: "block.applied",
  target: "https://receiver.example/hook",
  conditions: [{ key: "height", condition: "gte", value: "1" }],
};
const webhook = (changes: object) => post({ ...WEBHOOK, ...changes });
const condition = (changes: object) => webhook({ conditions: [{ ...WEBHOOK.conditions[0], ...changes }] });
const H64 = "ab".repeat(32);

type Row = readonly [
  title: string,
  path: string,
  request: Request,
  status: number,
  code: string,
  /** Expected parts of the message: the thing, the reason, the next step. */
  texts: readonly string[],
];

/** Paths that the old node did not have: the body has the code. */
const OWN: readonly Row[] = [
  [
    "no token",
    "/api/v2/webhooks",
    {},
    401,
    "TOKEN_MISSING",
    ['"Authorization"', "is missing", "uniknode token"],
  ],
  [
    "another token",
    "/api/v2/webhooks",
    { headers: { authorization: "Bearer x" } },
    401,
    "TOKEN_WRONG",
    ['"Authorization"', "does not contain the webhook token", "uniknode token"],
  ],
  ["no token for the stream", "/api/v2/events", {}, 401, "TOKEN_MISSING", ['"Authorization"', "is missing"]],
  [
    "no token for a dev command",
    "/api/dev/mine",
    { method: "POST" },
    401,
    "TOKEN_MISSING",
    ['"Authorization"', "is missing", "uniknode token"],
  ],
  [
    "another method",
    "/api/v2/webhooks/1",
    { method: "PATCH", headers: authorization },
    405,
    "METHOD_NOT_ALLOWED",
    ["PATCH", "is not allowed on /api/v2/webhooks/1", "allowed: DELETE, GET, HEAD, PUT"],
  ],
  [
    "GET of a dev command",
    "/api/dev/mine?blocks=1",
    get,
    405,
    "METHOD_NOT_ALLOWED",
    ["GET", "is not allowed on /api/dev/mine", "allowed: POST"],
  ],
  [
    "POST to a health check",
    "/health/ready",
    { method: "POST" },
    405,
    "METHOD_NOT_ALLOWED",
    ["POST", "/health/ready", "allowed: GET, HEAD"],
  ],
  [
    "an unknown route",
    "/api/v2/webhooks/1/pings",
    get,
    404,
    "PATH_UNKNOWN",
    ["/api/v2/webhooks/1/pings", "No route", "/documentation"],
  ],
  [
    "an unknown health check",
    "/health/alive",
    {},
    404,
    "PATH_UNKNOWN",
    ["/health/alive", "No route", "/documentation"],
  ],
  [
    "a body without Content-Type",
    "/api/v2/webhooks",
    post(WEBHOOK, {}),
    415,
    "UNSUPPORTED_CONTENT_TYPE",
    ["Content-Type", "is missing", "must be application/json"],
  ],
  [
    "a form",
    "/api/v2/webhooks",
    post("event=x", { "content-type": "application/x-www-form-urlencoded" }),
    415,
    "UNSUPPORTED_CONTENT_TYPE",
    ["Content-Type", "not application/x-www-form-urlencoded", "must be application/json"],
  ],
  [
    "JSON with a comma too many",
    "/api/v2/webhooks",
    post('{"event": "block.applied",}'),
    422,
    "INVALID_JSON",
    ["JSON", "at position 26"],
  ],
  ["an empty body", "/api/v2/webhooks", post(""), 422, "INVALID_JSON", ["JSON", "end of JSON input"]],
  ["a list", "/api/v2/webhooks", post([]), 422, "INVALID_MEMBER", ["the body", "must be an object"]],
  [
    "a deep body",
    "/api/v2/webhooks",
    post("[".repeat(65)),
    422,
    "BODY_TOO_COMPLEX",
    ["The body", "deeper than 64 levels"],
  ],
  [
    "a body with many items",
    "/api/v2/webhooks",
    post(`[${"0,".repeat(50_000)}0]`),
    422,
    "BODY_TOO_COMPLEX",
    ["The body", "more than 50000"],
  ],
  [
    "a large body",
    "/api/v2/webhooks",
    post(`"${"x".repeat(1_048_576)}"`),
    422,
    "BODY_TOO_LARGE",
    ["Payload", "greater than maximum allowed: 1048576"],
  ],
  [
    "a mistyped member",
    "/api/v2/webhooks",
    webhook({ event: undefined, evnt: "block.applied" }),
    422,
    "UNKNOWN_MEMBER",
    ['"evnt"', "is not allowed", 'did you mean "event"?'],
  ],
  [
    "two members too many",
    "/api/v2/webhooks",
    webhook({ colour: 1, size: 2 }),
    422,
    "UNKNOWN_MEMBER",
    ['"colour" is not allowed', '"size" is not allowed'],
  ],
  [
    "the token in the body",
    "/api/v2/webhooks/1",
    put({ secret: "mine" }),
    422,
    "UNKNOWN_MEMBER",
    ['"secret"', "is not allowed", "allowed: event, events"],
  ],
  [
    "no event",
    "/api/v2/webhooks",
    webhook({ event: undefined }),
    422,
    "MISSING_MEMBER",
    ['"event" or "events"', "is required"],
  ],
  [
    "no target",
    "/api/v2/webhooks",
    webhook({ target: undefined }),
    422,
    "MISSING_MEMBER",
    ['"target"', "is required"],
  ],
  [
    "a mistyped event",
    "/api/v2/webhooks",
    webhook({ event: "block.aplied" }),
    422,
    "UNKNOWN_EVENT",
    ['"event"', 'unknown event "block.aplied"', 'did you mean "block.applied"', "/documentation"],
  ],
  [
    "an unrelated event",
    "/api/v2/webhooks",
    webhook({ events: ["block.applied", "invoice.paid.in.full"] }),
    422,
    "UNKNOWN_EVENT",
    ['"events" at position 1', 'unknown event "invoice.paid.in.full"', "/documentation"],
  ],
  [
    "a target that is not a URL",
    "/api/v2/webhooks",
    webhook({ target: "receiver.example/hook" }),
    422,
    "INVALID_MEMBER",
    ['"target"', "must be an absolute http or https URL", "such as"],
  ],
  [
    "a target with a password",
    "/api/v2/webhooks",
    webhook({ target: "https://me:secret@receiver.example/" }),
    422,
    "INVALID_MEMBER",
    ['"target"', "without user name and password", "such as"],
  ],
  [
    "a target in the network of the node",
    "/api/v2/webhooks",
    webhook({ target: "http://10.0.0.7/hook" }),
    422,
    "TARGET_REFUSED",
    ['"target"', "10.0.0.7, which is not public", "--webhook-private-targets"],
  ],
  [
    "a target on the machine of the node",
    "/api/v2/webhooks/1",
    put({ target: "http://localhost:5005/" }),
    422,
    "TARGET_REFUSED",
    ['"target"', "127.0.0.1, which is not public", "--webhook-private-targets"],
  ],
  [
    "conditions that are not a list",
    "/api/v2/webhooks",
    webhook({ conditions: "always" }),
    422,
    "INVALID_MEMBER",
    ['"conditions"', "must be an array"],
  ],
  [
    "an unknown operator",
    "/api/v2/webhooks",
    condition({ condition: "=>" }),
    422,
    "INVALID_MEMBER",
    ['"conditions" at position 0', '"condition"', "must be one of", "gte"],
  ],
  [
    "a condition without value",
    "/api/v2/webhooks",
    condition({ value: undefined }),
    422,
    "MISSING_MEMBER",
    ['"conditions" at position 0', '"value"', "is required"],
  ],
  [
    "a condition with operator instead of condition",
    "/api/v2/webhooks",
    condition({ operator: "gte" }),
    422,
    "UNKNOWN_MEMBER",
    ['"conditions" at position 0', '"operator" is not allowed', "allowed: key, condition, value"],
  ],
  [
    "a broken pattern",
    "/api/v2/webhooks",
    condition({ condition: "regexp", value: "(" }),
    422,
    "INVALID_MEMBER",
    ['"conditions" at position 0', '"value"', "is not a valid regular expression"],
  ],
  [
    "a switch that is a number",
    "/api/v2/webhooks",
    webhook({ enabled: 1 }),
    422,
    "INVALID_MEMBER",
    ['"enabled"', "must be true or false"],
  ],
  [
    "too many confirmations",
    "/api/v2/webhooks",
    webhook({ confirmations: 10_001 }),
    422,
    "INVALID_MEMBER",
    ['"confirmations"', "must be an integer from 0 to 10000"],
  ],
  [
    "an unknown webhook",
    "/api/v2/webhooks/77",
    get,
    404,
    "WEBHOOK_UNKNOWN",
    ["webhook 77", "not found", "GET /api/v2/webhooks"],
  ],
  [
    "an unknown delivery",
    "/api/v2/webhooks/1/deliveries/999/retry",
    { method: "POST", headers: authorization },
    404,
    "DELIVERY_UNKNOWN",
    ["delivery 999 of webhook 1", "not found", "GET /api/v2/webhooks/1/deliveries"],
  ],
  [
    "an unknown replay",
    "/api/v2/webhooks/1/replay",
    get,
    404,
    "REPLAY_UNKNOWN",
    ["webhook 1", "has no replay", "POST /api/v2/webhooks/1/replay"],
  ],
  [
    "a reversed range of a replay",
    "/api/v2/webhooks/1/replay",
    post({ fromHeight: 2, toHeight: 1 }),
    422,
    "INVALID_MEMBER",
    ['"fromHeight"', 'must not be greater than "toHeight"'],
  ],
  [
    "a page of the register too large",
    "/api/v2/webhooks?limit=101",
    get,
    422,
    "INVALID_MEMBER",
    ['"limit"', "must be an integer from 1 to 100"],
  ],
  [
    "an unknown state of deliveries",
    "/api/v2/webhooks/1/deliveries?state=dead",
    get,
    422,
    "INVALID_MEMBER",
    ['"state"', "must be one of pending, delivered, failed, cancelled"],
  ],
  [
    "a mistyped parameter of the log",
    "/api/v2/webhooks/1/deliveries?stat=failed",
    get,
    422,
    "UNKNOWN_MEMBER",
    ['"stat"', "is not allowed", 'did you mean "state"?'],
  ],
  [
    "a time that is text",
    "/api/v2/webhooks/1/deliveries/retry",
    post({ since: "yesterday" }),
    422,
    "INVALID_MEMBER",
    ['"since"', "must be an integer from 0 to 2^53 - 1"],
  ],
  [
    "a stream of an unknown event",
    "/api/v2/events?events=transactions.applied",
    get,
    422,
    "UNKNOWN_EVENT",
    ['"events" at position 0', 'did you mean "transaction.applied"', "/documentation"],
  ],
  [
    "a stream from an invalid position",
    "/api/v2/events?lastEventId=then",
    get,
    422,
    "INVALID_MEMBER",
    ['"Last-Event-ID"', "must be the id of an event", "omit it"],
  ],
  [
    "conditions of a stream that are not JSON",
    "/api/v2/events?conditions=amount",
    get,
    422,
    "INVALID_MEMBER",
    ['"conditions"', "must be an array, as JSON"],
  ],
  [
    "no block to forge",
    "/api/dev/mine",
    post({ blocks: 0 }),
    422,
    "INVALID_MEMBER",
    ['"blocks"', "must be an integer from 1 to 1000"],
  ],
  [
    "a mistyped member of a dev command",
    "/api/dev/mine",
    post({ block: 1 }),
    422,
    "UNKNOWN_MEMBER",
    ['"block"', "is not allowed", 'did you mean "blocks"?'],
  ],
  [
    "a branch without depth",
    "/api/dev/reorg",
    { method: "POST", headers: authorization },
    422,
    "MISSING_MEMBER",
    ['"depth"', "is required"],
  ],
  [
    "a misspelt depth",
    "/api/dev/reorg",
    post({ dept: 3 }),
    422,
    "MISSING_MEMBER",
    ['"depth" is required, not "dept"'],
  ],
  [
    "a branch below the first blocks",
    "/api/dev/reorg",
    post({ depth: 900 }),
    422,
    "DEV_DEPTH",
    ["depth must be at most", "a branch cannot start below height"],
  ],
  [
    "an unknown snapshot",
    "/api/dev/restore",
    post({ id: H64 }),
    409,
    "DEV_SNAPSHOT",
    [H64, "is not on the chain"],
  ],
  [
    "a snapshot with a number as id",
    "/api/dev/restore",
    post({ id: 7 }),
    422,
    "INVALID_MEMBER",
    ['"id"', "must be a string"],
  ],
  [
    "two journeys",
    "/api/dev/travel",
    post({}),
    422,
    "MISSING_MEMBER",
    ['one of "seconds" and "to"', "is required"],
  ],
  [
    "a failure of the receiver of an unknown webhook",
    "/api/dev/fail",
    post({ webhook: 77, how: "drop" }),
    404,
    "WEBHOOK_UNKNOWN",
    ["webhook 77 not found", "GET /api/v2/webhooks"],
  ],
  [
    "an unknown failure",
    "/api/dev/fail",
    post({ webhook: 1, how: "burn" }),
    422,
    "INVALID_MEMBER",
    ['"how"', "refuse"],
  ],
  [
    "a status of a connection that is dropped",
    "/api/dev/fail",
    post({ webhook: 1, how: "drop", status: 500 }),
    422,
    "INVALID_MEMBER",
    ['"status"', '"how": "refuse"'],
  ],
  [
    "a switch of forging that is text",
    "/api/dev/forge",
    post({ enabled: "yes" }),
    422,
    "INVALID_MEMBER",
    ['"enabled"', "must be true or false"],
  ],
];

/** Paths of the old node: their errors were recorded, and have the code in the header alone. */
const OLD: readonly Row[] = [
  ["an unknown path", "/api/nothing", {}, 404, "PATH_UNKNOWN", ["Not Found"]],
  ["another method", "/api/transactions", send("PUT", "{}"), 404, "METHOD_NOT_ALLOWED", ["Not Found"]],
  ["a path that cannot be decoded", "/api/blocks/%zz", {}, 400, "PATH_ENCODING", ["Bad Request"]],
  [
    "an unknown wallet",
    "/api/wallets/DPdseFEThZPMtc6MbYpEAhuadF4MWokjN8",
    {},
    404,
    "WALLET_UNKNOWN",
    ["Wallet not found"],
  ],
  ["an unknown block", `/api/blocks/${H64}`, {}, 404, "BLOCK_UNKNOWN", ["Block not found"]],
  [
    "an unknown transaction",
    `/api/v2/transactions/${H64}`,
    {},
    404,
    "TRANSACTION_UNKNOWN",
    ["Transaction not found"],
  ],
  ["an unknown unik", `/api/v2/uniks/${H64}`, {}, 404, "UNIK_UNKNOWN", [H64, "not found"]],
  ["an unknown delegate", "/api/delegates/unknown", {}, 404, "DELEGATE_UNKNOWN", ["Delegate not found"]],
  ["an unknown round", "/api/rounds/99999/delegates", {}, 404, "ROUND_UNKNOWN", ["Round not found"]],
  ["tokens of another type", "/api/businesses", {}, 404, "TOKEN_TYPE_UNKNOWN", ["Not Found"]],
  [
    "a bad id of a block",
    "/api/blocks/zzz",
    {},
    422,
    "INVALID_MEMBER",
    ['"id"', "must be up to 20 decimal digits"],
  ],
  [
    "a bad id of a unik",
    "/api/uniks/zz",
    {},
    400,
    "INVALID_MEMBER",
    ['"id"', "must be 64 hexadecimal digits"],
  ],
  [
    "a large page",
    "/api/uniks?limit=1000",
    {},
    400,
    "INVALID_MEMBER",
    ['"limit"', "must be an integer from 1 to 100"],
  ],
  [
    "a cursor of another list",
    "/api/blocks?cursor=x",
    {},
    422,
    "INVALID_CURSOR",
    ['"cursor"', "does not belong to this list", "cursor=start"],
  ],
  [
    "an unknown order",
    "/api/blocks?orderBy=size",
    {},
    422,
    "INVALID_MEMBER",
    ['"orderBy"', "must be one of", ":asc or :desc"],
  ],
  [
    "a mistyped filter",
    "/api/transactions?recipientid=x",
    {},
    422,
    "UNKNOWN_MEMBER",
    ['"recipientid"', "is not allowed", 'did you mean "recipientId"?'],
  ],
  [
    "a height that is a word",
    "/api/blocks?height=top",
    {},
    422,
    "INVALID_MEMBER",
    ['"height"', "must be an integer from 1"],
  ],
  [
    "invalid JSON",
    "/api/blocks/search",
    search("{"),
    422,
    "INVALID_JSON",
    ["Invalid request payload JSON format", "JSON"],
  ],
  [
    "XML",
    "/api/blocks/search",
    search("<a/>", "application/xml"),
    422,
    "UNSUPPORTED_CONTENT_TYPE",
    ["Unsupported Media Type", "application/xml", "application/json"],
  ],
  [
    "a deep search",
    "/api/blocks/search",
    search("[".repeat(65)),
    422,
    "BODY_TOO_COMPLEX",
    ["The body", "deeper than 64 levels"],
  ],
  [
    "a large search",
    "/api/blocks/search",
    search(`"${"x".repeat(1_048_576)}"`),
    422,
    "BODY_TOO_LARGE",
    ["greater than maximum allowed: 1048576"],
  ],
  [
    "no transactions",
    "/api/transactions",
    search({}),
    422,
    "MISSING_MEMBER",
    ['"transactions"', "is required"],
  ],
];

test("The table has the wrong usages of every family.", () => {
  expect(OWN.length + OLD.length).toBeGreaterThanOrEqual(44);
});

test.each(OWN)(
  "%s (%s) gets the response with its code",
  async (_title, path, given, status, code, texts) => {
    const { body, headers, ...response } = await ask(path, given);
    expect([response.status, body.statusCode, body.code, headers["error-code"]]).toEqual([
      status,
      status,
      code,
      code,
    ]);
    for (const text of texts) expect(body.message).toContain(text);
    if (status === 405) expect(body.message).toContain(`allowed: ${headers.allow}`);
  },
);

test.each(OLD)("%s (%s) has the recorded members, and the code in a header", async (...row) => {
  const [_title, path, given, status, code, texts] = row;
  const { body, headers, ...response } = await ask(path, given);
  const members = [
    "error",
    "message",
    "statusCode",
    ...(status === 400 && code !== "PATH_ENCODING" ? ["validation"] : []),
  ];
  expect(Object.keys(body).sort()).toEqual(members);
  expect([response.status, body.statusCode, headers["error-code"]]).toEqual([status, status, code]);
  for (const text of texts) expect(body.message).toContain(text);
  expect(headers.allow).toBe(code === "METHOD_NOT_ALLOWED" ? "GET, HEAD, POST" : undefined);
});

test("Pages of browsers can read the code of an error.", async () => {
  const { headers } = await ask("/api/nothing", { headers: { origin: "https://explorer.example" } });
  expect(headers["access-control-expose-headers"]).toContain(", error-code, ");
});

test.each([
  ["without body and type", {}],
  ["with the type of JSON and no body", JSON_BODY],
])("A route without body works %s.", async (_title, type) => {
  const empty = { method: "POST", headers: { ...authorization, ...type } };
  expect(await ask("/api/v2/webhooks/1/deliveries/retry", empty)).toMatchObject({
    status: 200,
    body: { data: { retried: 0 } },
  });
  expect((await ask("/api/v2/webhooks/1/rotate", empty)).status).toBe(200);
  expect((await ask("/api/dev/snapshot", empty)).status).toBe(200);
  const pinged = await ask("/api/v2/webhooks/1/ping", empty);
  const { id } = (pinged.body as { data: { id: number } }).data;
  expect((await ask(`/api/v2/webhooks/1/deliveries/${id}/retry`, empty)).status).toBe(200);
});

test.each([
  ["events that did not happen", { event: "unik.transferred" }, "None of these events occurred", '"blocks"'],
  [
    "conditions that never match",
    { match: "all", conditions: [{ key: "height", condition: "lt", value: "0" }] },
    "none met the conditions",
    "notFired",
  ],
  [
    "events that cannot be derived from blocks",
    { event: "wallet.saved" },
    "cannot be derived from stored blocks",
    "register the webhook",
  ],
])("A dry run without matches names the reason: %s.", async (_title, changes, reason, next) => {
  const { status, body } = await ask("/api/v2/webhooks/test", webhook(changes));
  const { note } = (body as { data: { note?: string } }).data;
  expect([status, note]).toEqual([200, expect.stringContaining(reason)]);
  expect(note).toContain(next);
});
