/** Nonces of transactions that simultaneous calls create. */
import { expect, test } from "vitest";
import { createNonces } from "../../src/rpc/nonces.ts";

test("Calls in progress get consecutive nonces; other senders have their own.", () => {
  const nonces = createNonces();
  const calls = [nonces.enter("alice"), nonces.enter("alice"), nonces.enter("alice")];
  const given = calls.map((call) => {
    const nonce = call.next(5n);
    call.use(nonce);
    return nonce;
  });
  expect(given).toEqual([5n, 6n, 7n]);
  expect(nonces.enter("bob").next(1n)).toBe(1n);
  // The node knows later ones.
  expect(calls[0]?.next(20n)).toBe(20n);
});

test("A call that creates nothing uses no nonce.", () => {
  const nonces = createNonces();
  const [first, second] = [nonces.enter("alice"), nonces.enter("alice")];
  expect(first.next(5n)).toBe(5n);
  first.leave();
  expect(second.next(5n)).toBe(5n);
});

test("After the last call the node decides: a transaction that is never sent delays no later one.", () => {
  const nonces = createNonces();
  const call = nonces.enter("alice");
  call.use(call.next(5n));
  call.leave();
  expect(nonces.enter("alice").next(5n)).toBe(5n);
});
