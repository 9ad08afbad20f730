/** Runners of the pool (pool.md). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { minimumFee, type SealedTransaction } from "@uniknode/protocol";
import {
  expirationHeight,
  isExpired,
  isExpiredInNextBlock,
  Pending,
} from "../../packages/node/src/pool/contents/pending.ts";
import { Pool } from "../../packages/node/src/pool/pool.ts";
import { DEFAULT_POOL_OPTIONS } from "../../packages/node/src/pool/pool-options.ts";
import { BatchVerifier } from "../../packages/node/src/verification/verifier.ts";
import { verificationBy } from "../../packages/node/test-support/pool/verification.ts";
import { networkOfCase, startingState } from "./ledger-transactions.ts";
import { eachCase, type Runners } from "./vector.ts";

type Inserted = { label: string; sender: string; nonce: string; fee: string };

export const poolRunners: Runners = {
  "dynamic-fee": eachCase(({ serializedBytes, addonBytes, minFeePerByte, minimumFee: expected }) => {
    assert.equal(minimumFee(serializedBytes, addonBytes, minFeePerByte).toString(), expected);
  }),

  expiration: eachCase(({ transaction, context, ...expected }) => {
    const height = expirationHeight(transaction, context);
    assert.equal(height ?? null, expected.expirationHeight);
    assert.equal(isExpiredInNextBlock(height, context.currentHeight), expected.refusedAtAdmission);
    assert.equal(isExpired(height, context.currentHeight), expected.purgedFromPool);
  }),

  ordering: eachCase(({ inserted, order, firstTwoWithLimit2, evictionCandidate }) => {
    const pending = new Pending();
    for (const transaction of inserted) pending.add(sealed(transaction));
    const labels = (transactions: readonly SealedTransaction[]) => transactions.map(({ data }) => data.id);
    assert.deepEqual(labels(pending.inForgingOrder()), order);
    assert.deepEqual(labels(pending.inForgingOrder(2)), firstTwoWithLimit2);
    assert.equal(pending.evictionCandidate()?.data.id, evictionCandidate);
  }),

  "pool-admission": eachCase(async ({ lastHeight, lastBlockTimestamp, ...testCase }) => {
    const { networks, baseState } = handlers();
    const { alreadyForged = [], pending, transaction, expected } = testCase;
    const pool = new Pool(
      { ...DEFAULT_POOL_OPTIONS, poolMaxPerSender: 5 },
      {
        network: networkOfCase(networks, "vectornet"),
        state: startingState(baseState, testCase.statePatch),
        head: () => ({ height: lastHeight, timestamp: lastBlockTimestamp }),
        now: () => lastBlockTimestamp,
        storedIds: (ids) => new Set(ids.filter((id) => alreadyForged.includes(id))),
        store: { load: () => [], write: () => {} },
        ...verificationBy(networkOfCase(networks, "vectornet"), (checks) => verifier.verify(checks)),
        emit: () => {},
      },
    );
    for (const { id, data } of pending) {
      const { data: result } = await pool.submit([data]);
      assert.deepEqual(result.accept, [id], "a transaction that is pending before");
    }
    const { data, errors } = await pool.submit([transaction]);
    assert.equal(data.accept.length === 1, expected.accepted);
    assert.equal(data.broadcast.length === 1, expected.broadcast);
    const types = (reasons: { type: string }[]) => reasons.map(({ type }) => type);
    assert.deepEqual(types(Object.values(errors ?? {}).flat()), types(expected.errors ?? []));
  }),
};

const verifier = new BatchVerifier({ threads: 0 });

/** Another file has the network and the state of these cases. */
const handlers = () =>
  JSON.parse(readFileSync(new URL("../../test/vectors/state/handlers.json", import.meta.url), "utf8"));

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
