/** Runners of the pool's own rules (pool.md sections 6 to 8). */
import assert from "node:assert/strict";
import type { SealedTransaction } from "@uniknode/protocol";
import {
  expirationHeight,
  isExpired,
  isRefusedAtAdmission,
} from "../../packages/node/src/pool/expiration.ts";
import { minimumFee } from "../../packages/node/src/pool/fees.ts";
import { createPending } from "../../packages/node/src/pool/pending.ts";
import { eachCase, type Runners } from "./vector.ts";

type Inserted = { label: string; sender: string; nonce: string; fee: string };

export const poolRunners: Runners = {
  "dynamic-fee": eachCase(({ serializedBytes, addonBytes, minFeePerByte, minimumFee: expected }) => {
    assert.equal(minimumFee(serializedBytes, addonBytes, minFeePerByte).toString(), expected);
  }),

  expiration: eachCase(({ transaction, context, ...expected }) => {
    const height = expirationHeight(transaction, context);
    assert.equal(height ?? null, expected.expirationHeight);
    assert.equal(isRefusedAtAdmission(height, context.currentHeight), expected.refusedAtAdmission);
    assert.equal(isExpired(height, context.currentHeight), expected.purgedFromPool);
  }),

  ordering: eachCase(({ inserted, order, firstTwoWithLimit2, evictionCandidate }) => {
    const pending = createPending();
    for (const transaction of inserted) pending.add(sealed(transaction));
    const labels = (transactions: readonly SealedTransaction[]) => transactions.map(({ data }) => data.id);
    assert.deepEqual(labels(pending.inForgingOrder()), order);
    assert.deepEqual(labels(pending.inForgingOrder(2)), firstTwoWithLimit2);
    assert.equal(pending.evictionCandidate()?.data.id, evictionCandidate);
  }),
};

/** A transaction of which the order only looks at sender, nonce and fee. */
const sealed = ({ label, sender, nonce, fee }: Inserted): SealedTransaction => ({
  data: {
    id: label,
    version: 2,
    network: 30,
    typeGroup: 1,
    type: 0,
    senderPublicKey: sender,
    nonce: BigInt(nonce),
    fee: BigInt(fee),
    amount: 1n,
  },
  bytes: new Uint8Array(),
  isVerified: true,
});
