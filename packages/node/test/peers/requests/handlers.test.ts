/** Dispatch of calls to their handlers (p2p.md 5, 7.1 and 9). */
import { expect, test } from "vitest";
import { createRequestHandler, type RequestHandlerDeps } from "../../../src/peers/requests/server.ts";
import type { Call } from "../../../src/peers/wire/client-messages.ts";

const peer = { address: "203.0.113.7", isTrusted: false };
const forger = { address: "127.0.0.1", isTrusted: true };
const callOf = (event: Call["event"]) => ({ kind: "call", event, argument: {}, callId: 2 }) as Call;

function handlerWith(deps: Partial<RequestHandlerDeps>) {
  const callers: string[] = [];
  const onCaller = (address: string) => callers.push(address);
  return {
    handle: createRequestHandler({ blocks: {}, forger: {}, onCaller, ...deps } as RequestHandlerDeps),
    callers,
  };
}

test("A reply has at most as many peers as a client accepts.", async () => {
  const peers = Array.from({ length: 2_001 }, (_, index) => `203.0.${index >> 8}.${index & 255}`);
  const { handle } = handlerWith({ peers: () => peers });
  const peerList = await handle(callOf("p2p.peer.getPeers"), peer);
  expect(peerList).toEqual(peers.slice(0, 2_000).map((ip) => ({ ip })));
});

test('Out of sync, a forger receives the error "not ready"; a peer receives a reply, and becomes a candidate.', async () => {
  const { handle, callers } = handlerWith({ isSynced: () => false, peers: () => [] });
  await expect(handle(callOf("p2p.internal.getRateLimitedEndpoints"), forger)).rejects.toMatchObject({
    code: "CALL_REFUSED",
    message: "App is not ready.",
  });
  expect(await handle(callOf("p2p.peer.getPeers"), peer)).toEqual([]);
  expect(callers).toEqual([peer.address]);
});

test("In sync, a forger receives a reply, and does not become a candidate.", async () => {
  const { handle, callers } = handlerWith({ isSynced: () => true });
  expect(await handle(callOf("p2p.internal.getRateLimitedEndpoints"), forger)).toEqual([
    "p2p.peer.getPeers",
    "p2p.peer.getStatus",
    "p2p.peer.getCommonBlocks",
    "p2p.peer.getBlocks",
    "p2p.peer.postBlock",
  ]);
  expect(callers).toEqual([]);
});
