/**
 * `npm run bench -- multisignatures`: a block full of transfers of multisignature wallets, each with all signatures.
 *
 * Prints how long the consensus thread needs for their signatures if it computes them during execution, and if the
 * verifier threads have computed them ahead; with the machine's implementation, and in WebAssembly.
 */
import { performance } from "node:perf_hooks";
import {
  applyTransaction,
  COMPUTED_SIGNATURES,
  createDraft,
  isVerifiedIn,
  type WalletSignatures,
} from "@uniknode/ledger";
import {
  builders,
  encodeTransaction,
  multiSignTransaction,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type TransactionBody,
} from "@uniknode/protocol";
import { createVerifyNow } from "../packages/node/src/verification/caching-verifier.ts";
import { BatchVerifier } from "../packages/node/src/verification/verifier.ts";
import { RecordedSignatures } from "../packages/node/src/verification/wallet-signatures.ts";
import {
  addressNamed,
  createTestChain,
  envelope,
  keysOf,
  NETWORK,
  publicKeyOf,
  RICH,
} from "../packages/node/test-support/pool/chain.ts";
import { readArguments } from "../tools/arguments.ts";

const { values } = readArguments("bench multisignatures", {
  options: {
    transactions: { type: "string", default: "500" },
    participants: { type: "string", default: "16" },
    rounds: { type: "string", default: "3" },
  },
});
const [count, participantCount, rounds] = [values.transactions, values.participants, values.rounds].map(
  Number,
) as [number, number, number];

const participants = Array.from({ length: participantCount }, (_, index) => `participant ${index}`);
const multiSignature = { min: participantCount, publicKeys: participants.map(publicKeyOf) };
const chain = createTestChain({ shared: { ...RICH, attributes: { multiSignature } } });

console.log(`signing ${count} transactions ${participantCount} times ...`);
const transactions: SealedTransaction[] = Array.from({ length: count }, (_, index) => {
  const body = builders.transfer({
    ...envelope("shared", index + 1),
    recipientId: addressNamed("x"),
    amount: 1n,
  });
  const signed = participants.reduce<TransactionBody>(
    (transaction, name, at) => multiSignTransaction(transaction, at, keysOf(name)),
    body,
  );
  return sealedFromTrustedBytes(encodeTransaction(signed));
});

/** Like the execution of a block: verifies each transaction against the wallets, then applies it. */
function execute(signatures: WalletSignatures): void {
  const draft = createDraft(chain.state);
  const milestone = NETWORK.milestoneAt(10);
  const context = { network: NETWORK, milestone, head: chain.head(), state: draft, draft, signatures };
  for (const transaction of transactions) {
    if (!isVerifiedIn(chain.state, transaction, NETWORK, { signatures })) throw new Error("not verified");
    applyTransaction(transaction.data, context);
  }
}

function report(what: string, startMs: number, cpu: NodeJS.CpuUsage): void {
  const { user, system } = process.threadCpuUsage(cpu);
  const cpuMs = (user + system) / 1_000;
  console.log(
    `${what}: ${(performance.now() - startMs).toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of this thread`,
  );
}

for (let round = 0; round < rounds; round++) {
  const [startMs, cpu] = [performance.now(), process.threadCpuUsage()];
  execute(COMPUTED_SIGNATURES);
  report("computed during execution, in WebAssembly", startMs, cpu);
}
const verifier = new BatchVerifier({ threads: 2 });
// The threads load their implementation.
const warm = new RecordedSignatures(1, {
  network: NETWORK,
  verify: (checks) => verifier.verify(checks),
  verifyNow,
});
await warm.verifyAhead(transactions.slice(0, 20), chain.state);
for (let round = 0; round < rounds; round++) {
  const signatures = new RecordedSignatures(2 * count, {
    network: NETWORK,
    verify: (checks) => verifier.verify(checks),
    verifyNow,
  });
  const [aheadMs, aheadCpu] = [performance.now(), process.threadCpuUsage()];
  await signatures.verifyAhead(transactions, chain.state);
  report("ahead on 2 threads", aheadMs, aheadCpu);
  const [startMs, cpu] = [performance.now(), process.threadCpuUsage()];
  execute(signatures);
  report("execution with recorded verdicts", startMs, cpu);
}
await verifier.close();

function verifyNow(check: Parameters<ReturnType<typeof createVerifyNow>>[0]): boolean {
  return createVerifyNow()(check);
}
