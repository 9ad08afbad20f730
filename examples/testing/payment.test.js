/** A payment and a reorganisation, on a dev chain that the test starts. */
import { startChain } from "@uniknode/client/testing";
import {
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  networkFilesFromJson,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";

const AMOUNT = 10_000_000_000n;
let chain;

beforeAll(async () => {
  chain = await startChain();
}, 90_000);

afterAll(() => chain?.stop());

/** Signs and sends a payment, and returns its id. */
async function pay(from, to) {
  const { client } = chain;
  const network = createNetwork(networkFilesFromJson((await client.node.cryptoConfiguration()).data));
  const { data: sender } = await client.wallets.get(from.address);
  const transfer = builders.transfer({
    network,
    senderPublicKey: bytesToHex(keysFromPassphrase(from.passphrase).publicKey),
    nonce: BigInt(sender.nonce) + 1n,
    recipientId: to.address,
    amount: AMOUNT,
  });
  const payment = signTransaction(transfer, keysFromPassphrase(from.passphrase));
  const { errors } = await client.transactions.submit([transactionToJson(payment)]);
  expect(errors).toBeUndefined();
  return payment.id;
}

test("a payment survives a reorganisation", { timeout: 60_000 }, async () => {
  const [alice, bob] = (await chain.client.dev.accounts()).data.accounts;
  const balance = async () => BigInt((await chain.client.wallets.get(bob.address)).data.balance);
  const before = await balance();

  const id = await pay(alice, bob);
  await chain.mine();
  await chain.waitFor("transaction.applied", ({ data }) => data.id === id);
  expect(await balance()).toBe(before + AMOUNT);

  // An empty branch replaces the block of the payment, which is pending again.
  const { reverted } = await chain.reorganise(1);
  await chain.waitFor("block.reverted", ({ blockId }) => blockId === reverted[0].id);
  expect(await balance()).toBe(before);

  await chain.travel(86_400);
  await chain.mine();
  await chain.waitFor("transaction.applied", ({ data }) => data.id === id);
  expect(await balance()).toBe(before + AMOUNT);
});
