/** Nonces of transactions that simultaneous calls, or the calls of a batch, create. */
import { expect, test } from "vitest";
import { Nonces } from "../../src/rpc/define-method.ts";

test("Calls in progress get consecutive nonces; other senders have their own.", () => {
  const nonces = new Nonces();
  const calls = Array.from({ length: 3 }, () => nonces.open().enter("alice"));
  const given = calls.map((call) => {
    const nonce = call.next(5n);
    call.use(nonce);
    return nonce;
  });
  expect(given).toEqual([5n, 6n, 7n]);
  expect(nonces.open().enter("bob").next(1n)).toBe(1n);
  // The node knows later ones.
  expect(calls[0]?.next(20n)).toBe(20n);
});

test("A call that creates nothing uses no nonce.", () => {
  const nonces = new Nonces();
  const [first, second] = [nonces.open(), nonces.open()];
  const place = second.enter("alice");
  expect(first.enter("alice").next(5n)).toBe(5n);
  first.leave();
  expect(place.next(5n)).toBe(5n);
});

test("The calls of a batch get consecutive nonces, beside those of others.", () => {
  const nonces = new Nonces();
  const [batch, other] = [nonces.open(), nonces.open()];
  const given = [batch, batch, other, batch].map((body) => {
    const place = body.enter("alice");
    const nonce = place.next(5n);
    place.use(nonce);
    return nonce;
  });
  expect(given).toEqual([5n, 6n, 7n, 8n]);
  batch.leave();
  expect(other.enter("alice").next(5n)).toBe(9n);
});

test("After the last body the node decides: a transaction that is never sent delays no later one.", () => {
  const nonces = new Nonces();
  const body = nonces.open();
  const place = body.enter("alice");
  place.use(place.next(5n));
  body.leave();
  body.leave();
  expect(nonces.open().enter("alice").next(5n)).toBe(5n);
});
