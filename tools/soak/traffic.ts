/** Typical load of a node: transfers, page reads, metrics scrapes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type DevAccount, deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { connect, transferOf } from "../../packages/node/test-support/process/client.ts";

export type Traffic = {
  /** Requests with a 5xx response or none. */
  readonly faults: readonly string[];
  readonly counts: { requests: number; accepted: number };
  /** Settles when the open requests have ended. */
  stop(): Promise<void>;
};

export type TrafficOptions = { readonly url: string; readonly token: string };

const MNEMONIC = "test test test test test test test test test test test junk";
const SENDERS = 10;
const TRANSFERS_PER_SUBMISSION = 10;
const SUBMISSION_INTERVAL_MS = 1_000;
const READ_INTERVAL_MS = 100;
const SCRAPE_INTERVAL_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
/** One page of each kind, and some expensive ones. */
const PATHS = [
  "/api/v2/blockchain",
  "/api/v2/blocks?limit=100",
  "/api/v2/transactions?limit=100",
  "/api/v2/transactions?limit=100&orderBy=amount:desc",
  "/api/v2/wallets?limit=100",
  "/api/v2/uniks",
  "/api/v2/delegates",
  "/api/v2/transactions/unconfirmed",
  "/api/v2/node/status",
];

export async function startTraffic({ url, token }: TrafficOptions): Promise<Traffic> {
  const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  const senders = Array.from({ length: SENDERS }, (_, index) => people(`account ${index}`));
  const client = await connect(url);
  const faults: string[] = [];
  const counts = { requests: 0, accepted: 0 };
  let isStopped = false;

  /** Returns the response unless it is an error. */
  async function ask(path: string, headers: Record<string, string> = {}): Promise<void> {
    counts.requests += 1;
    try {
      const response = await fetch(`${url}${path}`, {
        headers,
        signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (response.status >= 500) faults.push(`${path} responded with ${response.status}`);
    } catch (error) {
      if (!isStopped) faults.push(`${path}: ${(error as Error).message}`);
    }
  }

  async function nextNonce({ address }: DevAccount): Promise<bigint> {
    const wallet = (await client.get(`/api/v2/wallets/${address}`)) as { nonce: string };
    return BigInt(wallet.nonce) + 1n;
  }

  /** Sends ten transfers of one sender when the previous ones are on the chain. */
  async function submit(sender: DevAccount, recipient: DevAccount): Promise<void> {
    const nonce = await nextNonce(sender);
    const transfers = Array.from({ length: TRANSFERS_PER_SUBMISSION }, (_, index) =>
      transferOf(client.network, sender, recipient.address, nonce + BigInt(index)),
    );
    counts.requests += 1;
    const { status, accepted } = await client.submit(transfers);
    counts.accepted += accepted.length;
    if (status >= 500) faults.push(`a submission failed with status ${status}`);
  }

  async function every(intervalMs: number, work: (count: number) => Promise<void>): Promise<void> {
    for (let count = 0; !isStopped; count++) {
      await work(count).catch((error: Error) => {
        if (!isStopped) faults.push(error.message);
      });
      await sleep(intervalMs);
    }
  }

  const running = [
    every(SUBMISSION_INTERVAL_MS, (count) =>
      submit(present(senders[count % SENDERS]), present(senders[(count + 1) % SENDERS])),
    ),
    every(READ_INTERVAL_MS, (count) => ask(present(PATHS[count % PATHS.length]))),
    every(SCRAPE_INTERVAL_MS, () => ask("/metrics", { authorization: token })),
    every(SCRAPE_INTERVAL_MS, () => ask("/health/status")),
  ];
  return {
    faults,
    counts,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
