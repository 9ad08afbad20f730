/** Suite for every transport of the gateway: each call gets its result or ends with a reason, and none leaves anything in memory. */
import { describe, expect, test } from "vitest";
import { type CallOptions, DEFAULT_CALL_OPTIONS } from "../../src/gateway/caller.ts";
import {
  BodyError,
  DevError,
  type Gateway,
  type NodeStatus,
  REMOTE_METHODS,
  type RemoteGateway,
} from "../../src/gateway/gateway.ts";
import { CallError, type CallFigures } from "../../src/platform/threads/call.ts";
import { createGateway } from "../../test-support/http/fixture.ts";

export type Subject = {
  readonly gateway: RemoteGateway;
  figures(): CallFigures;
  /** Closes the calling side. */
  close(): unknown;
};

/** Opens a transport to a gateway until the test has finished. */
export type OpenSubject = (served: Gateway, options: CallOptions) => Subject | Promise<Subject>;

const STATUS: NodeStatus = { synced: true, now: 1, blocksCount: 0, timestamp: 2 };
const RESULT = { data: { accept: [], broadcast: [], excess: [], invalid: [] } };
export const SHORT_MS = 50;

export const hurried = (options: Partial<CallOptions> = {}): CallOptions => ({
  ...DEFAULT_CALL_OPTIONS,
  timeoutsMs: { ...DEFAULT_CALL_OPTIONS.timeoutsMs, status: SHORT_MS },
  ...options,
});

/** Long enough for a call to begin on a busy machine: one that has not begun in time is not executed. */
const patient = (options: Partial<CallOptions> = {}): CallOptions =>
  hurried({
    timeoutsMs: { ...DEFAULT_CALL_OPTIONS.timeoutsMs, status: 10 * SHORT_MS },
    ...options,
  });

export function describeGateway(name: string, openSubject: OpenSubject): void {
  const open = (overrides: Partial<Gateway> = {}, options: CallOptions = DEFAULT_CALL_OPTIONS) =>
    openSubject({ ...createGateway(), ...overrides }, options);

  describe(`The gateway ${name}`, () => {
    addResults(open);
    addBounds(open);
    addErrors(open);
  });
}

type Open = (overrides?: Partial<Gateway>, options?: CallOptions) => Subject | Promise<Subject>;

function addResults(open: Open): void {
  test("A call gets its result, and leaves nothing behind.", async () => {
    const { gateway, figures } = await open({ status: async () => STATUS });
    const result = gateway.status();
    expect(figures().open).toBe(1);
    expect(await result).toEqual(STATUS);
    expect(figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
  });

  test("Each method passes its parameters and its result.", async () => {
    const calls: unknown[] = [];
    const record = (method: string) => async (parameter: unknown) => {
      calls.push([method, parameter]);
      return { method };
    };
    const overrides = Object.fromEntries(REMOTE_METHODS.map((method) => [method, record(method)]));
    const { gateway } = await open(overrides);
    const id = "ab".repeat(32);
    const reorg = { name: "reorg", depth: 2, withTransactions: true, leftOut: [id] } as const;
    const results = [
      await gateway.submit([{ id }, 7, null, "text", [[]]], "2001:db8::/48"),
      await gateway.pendingTransactions({ offset: 3, limit: 100, afterId: id }),
      await gateway.pendingTransactions({ offset: 0, limit: 1 }),
      await gateway.pendingTransaction(id),
      await gateway.status(),
      await gateway.peers(),
      await gateway.report(),
      await gateway.replaceRemoteNames(["block.applied", "peer.added"]),
      await gateway.replaceRemoteNames([]),
      await gateway.dev(reorg),
      await gateway.dev({ name: "mine", blocks: 1 }),
      await gateway.dev({ name: "snapshot" }),
      await gateway.dev({ name: "restore", id }),
      await gateway.dev({ name: "travel", seconds: 5 }),
      await gateway.dev({ name: "travel", to: 1_700_000_000 }),
      await gateway.dev({ name: "forge", isEnabled: false }),
    ];
    expect(calls).toEqual([
      ["submit", [{ id }, 7, null, "text", [[]]]],
      ["pendingTransactions", { offset: 3, limit: 100, afterId: id }],
      ["pendingTransactions", { offset: 0, limit: 1 }],
      ["pendingTransaction", id],
      ["status", undefined],
      ["peers", undefined],
      ["report", undefined],
      ["replaceRemoteNames", ["block.applied", "peer.added"]],
      ["replaceRemoteNames", []],
      ["dev", reorg],
      ["dev", { name: "mine", blocks: 1 }],
      ["dev", { name: "snapshot" }],
      ["dev", { name: "restore", id }],
      ["dev", { name: "travel", seconds: 5 }],
      ["dev", { name: "travel", to: 1_700_000_000 }],
      ["dev", { name: "forge", isEnabled: false }],
    ]);
    expect(results).toEqual(calls.map((call) => ({ method: (call as unknown[])[0] })));
  });

  test("The values of a submission arrive as a client's JSON has them.", async () => {
    const text = '[{"amount":-0,"fee":1e999,"nonce":-1e999,"id":"\\ud800","asset":[1e21,1.5,null,true,{}]}]';
    const received: unknown[] = [];
    const { gateway } = await open({
      submit: async (transactions) => {
        received.push(...transactions);
        return RESULT;
      },
    });
    await gateway.submit(JSON.parse(text));
    expect(received).toStrictEqual(JSON.parse(text));
  });

  test("A transaction that is not pending is undefined.", async () => {
    const { gateway } = await open();
    expect(await gateway.pendingTransaction("unknown")).toBeUndefined();
  });
}

function addBounds(open: Open): void {
  test("A call ends when its time is over; a late result is dropped and gives its place back.", async () => {
    const late = Promise.withResolvers<NodeStatus>();
    const { gateway, figures } = await open({ status: () => late.promise }, patient());
    await expect(gateway.status()).rejects.toMatchObject({ code: "CALL_TIMEOUT", isRetryable: true });
    expect(figures()).toEqual({ open: 1, timedOut: 1, refused: 0 });
    late.resolve(STATUS);
    await expect.poll(figures).toEqual({ open: 0, timedOut: 1, refused: 0 });
  });

  test("A call whose time is over before it begins is not executed.", async () => {
    let submitted = 0;
    const { gateway, figures } = await open(
      {
        submit: async () => {
          submitted += 1;
          return RESULT;
        },
      },
      hurried({ timeoutsMs: { ...DEFAULT_CALL_OPTIONS.timeoutsMs, submit: SHORT_MS } }),
    );
    const call = gateway.submit([{}]);
    // Both sides do nothing but this.
    const end = performance.now() + 2 * SHORT_MS;
    while (performance.now() < end);
    await expect(call).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
    await expect.poll(() => figures().open).toBe(0);
    expect(submitted).toBe(0);
  });

  test("Calls beyond the maximum are refused at once; those that timed out count until they end.", async () => {
    const silent = Promise.withResolvers<NodeStatus>();
    const options = patient({ maxCalls: 2 });
    const { gateway, figures } = await open({ status: () => silent.promise }, options);
    await Promise.allSettled([gateway.status(), gateway.status()]);
    await expect(gateway.peers()).rejects.toMatchObject({ code: "CALL_REFUSED", isRetryable: true });
    expect(figures()).toEqual({ open: 2, timedOut: 2, refused: 1 });
    silent.resolve(STATUS);
    await expect.poll(() => figures().open).toBe(0);
    expect(await gateway.peers()).toEqual(await createGateway().peers());
  });

  test("Large calls are refused while others of their size are under way; a single one is not.", async () => {
    const { gateway } = await open({ submit: async () => RESULT }, hurried({ maxLength: 1_000 }));
    const large = [{ text: "x".repeat(2_000) }];
    const first = gateway.submit(large);
    await expect(gateway.submit(large)).rejects.toMatchObject({ code: "CALL_REFUSED" });
    expect(await first).toEqual(RESULT);
    expect(await gateway.submit(large)).toEqual(RESULT);
  });

  test("Calls end when their side closes, and none begins afterwards.", async () => {
    const { gateway, figures, close } = await open({ status: () => new Promise(() => {}) });
    const call = expect(gateway.status()).rejects.toMatchObject({ code: "CALL_CLOSED", isRetryable: true });
    await close();
    await call;
    await expect(gateway.peers()).rejects.toMatchObject({ code: "CALL_CLOSED" });
    await expect(gateway.submit([{}])).rejects.toMatchObject({ code: "CALL_CLOSED" });
    expect(figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
  });
}

function addErrors(open: Open): void {
  test.each<[string, unknown, object]>([
    [
      "an error with a code",
      Object.assign(new Error("no"), { code: "POOL_BUSY" }),
      { code: "POOL_BUSY", message: "no" },
    ],
    [
      "an error with a number as code",
      Object.assign(new Error("no"), { code: 5 }),
      { code: undefined, message: "no" },
    ],
    ["a long message", new Error("x".repeat(1_000_000)), { message: "x".repeat(1_000) }],
    ["undefined", undefined, { message: "a value of type undefined was thrown" }],
    ["an object", Object.create(null), { message: "a value of type object was thrown" }],
    ["a symbol", Symbol("no"), { message: "a value of type symbol was thrown" }],
  ])("Whatever is thrown arrives as an error: %s.", async (_, thrown, expected) => {
    const { gateway } = await open({
      status: async () => {
        throw thrown;
      },
    });
    const error = await gateway.status().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject(expected);
  });

  test("The refusal of a body arrives as one.", async () => {
    const { gateway } = await open();
    const refused = gateway.submit([]);
    await expect(refused).rejects.toBeInstanceOf(BodyError);
    await expect(refused).rejects.toThrow("there must be at least one transaction");
  });

  test("A call that failed within the node arrives as such: its client may retry.", async () => {
    const { gateway } = await open({
      submit: () => Promise.reject(new CallError("CALL_REFUSED", "too many signatures")),
    });
    const refused = gateway.submit([{}]);
    await expect(refused).rejects.toBeInstanceOf(CallError);
    await expect(refused).rejects.toMatchObject({ isRetryable: true });
  });

  test("The refusal of a dev command arrives with its code.", async () => {
    const { gateway } = await open({
      dev: () => Promise.reject(new DevError("DEV_STARTING", "wait")),
    });
    await expect(gateway.dev({ name: "snapshot" })).rejects.toMatchObject({
      code: "DEV_STARTING",
      message: "wait",
    });
  });
}
