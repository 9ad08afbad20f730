/** Health of an API server whose node does not respond. */
import { expect, test } from "vitest";
import type { HttpGateway } from "../../src/gateway/http.ts";
import { CallError } from "../../src/platform/threads/call.ts";
import { ServerOperations } from "../../src/processes/serve/operations.ts";
import type { Snapshot } from "../../src/read/port.ts";

test("An API server whose node accepts calls and never responds waits for 2 s at most, and is ready.", async () => {
  const boundsMs: (number | undefined)[] = [];
  const late = () => Promise.reject(new CallError("CALL_TIMEOUT", "no node executed the call in time"));
  const within = (timeoutMs?: number) => {
    boundsMs.push(timeoutMs);
    return { status: late } as Partial<ReturnType<HttpGateway["within"]>> as ReturnType<
      HttpGateway["within"]
    >;
  };
  const snapshot = { head: { height: 7 } } as Partial<Snapshot> as Snapshot;
  const operations = new ServerOperations({
    readModel: { snapshot: (work) => work(snapshot) },
    gateway: { within },
    calls: () => ({ gateway: undefined, forwarded: undefined }) as never,
    databaseConnections: () => ({ open: 0, waiting: 0 }),
    connections: () => ({}) as never,
  });
  expect(await operations.ready()).toMatchObject({
    isReady: true,
    checks: { node: { detail: expect.stringContaining("does not respond") } },
  });
  expect(boundsMs).toEqual([2_000]);
});
