/** The processes on other machines that a node knows. */
import { expect, test } from "vitest";
import { RemoteProcesses, readCaller } from "../../src/gateway/remote-processes.ts";

const HOUR_MS = 3_600_000;

test("A process is listed with its last call, until it has not called for an hour.", () => {
  let nowMs = 1_000;
  const processes = new RemoteProcesses(() => nowMs);
  const mirror = { kind: "mirror", address: "192.0.2.2", height: 7 } as const;
  const server = { kind: "server", address: "192.0.2.2", name: "api:4004" } as const;
  processes.note(server);
  processes.note(mirror);
  nowMs += HOUR_MS / 2;
  processes.note({ ...mirror, height: 8 });
  expect(processes.list()).toEqual([
    { ...mirror, height: 8, lastSeenMs: nowMs },
    { ...server, lastSeenMs: 1_000 },
  ]);
  nowMs += HOUR_MS / 2 + 1;
  expect(processes.list()).toMatchObject([{ kind: "mirror" }]);
});

test("More than a hundred processes: the ones without a call for the longest time are forgotten.", () => {
  const processes = new RemoteProcesses(() => 1);
  for (let index = 0; index < 150; index++)
    processes.note({ kind: "server", address: "192.0.2.2", name: `api:${index}` });
  expect(processes.list()).toHaveLength(100);
  expect(processes.list().some(({ name }) => name === "api:49")).toBe(false);
});

test.each([
  [
    { "x-uniknode-name": "api:4004", "x-uniknode-server-height": "12" },
    { name: "api:4004", height: 12 },
  ],
  [{ "x-uniknode-name": "api:4004", "x-uniknode-server-height": "-1" }, { name: "api:4004" }],
  [{ "x-uniknode-name": "api:4004" }, { name: "api:4004" }],
])("The headers %j describe a server.", (headers, expected) => {
  expect(readCaller(headers, "192.0.2.3")).toEqual({ kind: "server", address: "192.0.2.3", ...expected });
});

test("The headers of a delivery worker describe it.", () => {
  const headers = { "x-uniknode-kind": "worker", "x-uniknode-name": "worker-1" };
  expect(readCaller(headers, "::1")).toEqual({ kind: "worker", address: "::1", name: "worker-1" });
});

test.each([{}, { "x-uniknode-name": "<script>" }, { "x-uniknode-name": "a".repeat(65) }])(
  "The headers %j describe no server.",
  (headers) => {
    expect(readCaller(headers, "192.0.2.3")).toBeUndefined();
  },
);
