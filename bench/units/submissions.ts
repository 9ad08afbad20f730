/** Cost of a transaction for a node that accepts it over HTTP, one a request, and puts it into a block. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Client, connect, transferOf } from "../../packages/node/test-support/process/client.ts";
import { apiUrlOf, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import { mainThreadMsOf, ownProcessorMsOf } from "../serve/processor-time.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const SENDERS = 50;
/** Transactions of each sender: the first ones warm the code. */
const [WARM, MEASURED] = [30, 60];
/** Next nonce of an account: the first ones have minted their uniks in the first blocks. */
const firstNonce = (index: number) => (index < 3 ? 2n : 1n);

export async function measureSubmissions(): Promise<Readonly<Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
  const node = spawnUniknode([
    ...["dev", "--data", folder, "--http-port", "0", "--block-time", "1", "--accounts", `${SENDERS}`],
  ]);
  const pid = present(node.child.pid);
  try {
    const client = await connect(await apiUrlOf(node));
    await submitAll(client, 0, WARM);
    const [total, main] = [ownProcessorMsOf(pid), mainThreadMsOf(pid)];
    await submitAll(client, WARM, MEASURED);
    const count = SENDERS * MEASURED;
    return {
      nodeTransactionUs: (1_000 * (ownProcessorMsOf(pid) - total)) / count,
      consensusTransactionUs: (1_000 * (mainThreadMsOf(pid) - main)) / count,
    };
  } finally {
    node.child.kill("SIGINT");
    await node.ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Submits transfers of all senders at the same time, and waits until blocks contain them. */
async function submitAll({ network, submit, get }: Client, first: number, count: number): Promise<void> {
  const accounts = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  const senders = Array.from({ length: SENDERS }, (_, index) => accounts(`account ${index}`));
  const signed = senders.map((sender, index) =>
    Array.from({ length: count }, (_, round) =>
      transferOf(network, sender, present(senders[0]).address, firstNonce(index) + BigInt(first + round)),
    ),
  );
  await Promise.all(
    signed.map(async (transactions) => {
      for (const transaction of transactions) {
        const { accepted, errors } = await submit([transaction]);
        if (accepted.length === 0) throw new Error(`the node did not accept: ${JSON.stringify(errors)}`);
      }
    }),
  );
  while (((await get("/api/v2/transactions/unconfirmed?limit=1")) as unknown[]).length > 0) await sleep(50);
}
