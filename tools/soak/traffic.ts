/** Typical load of a node: transfers, page reads, metrics scrapes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type DevAccount, deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Client, connect, transferOf } from "../../packages/node/test-support/process/client.ts";

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

type State = TrafficOptions & {
  readonly client: Client;
  readonly senders: readonly DevAccount[];
  readonly faults: string[];
  readonly counts: Traffic["counts"];
  isStopped: boolean;
};

export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  const state: State = {
    ...options,
    client: await connect(options.url),
    senders: Array.from({ length: SENDERS }, (_, index) => people(`account ${index}`)),
    faults: [],
    counts: { requests: 0, accepted: 0 },
    isStopped: false,
  };
  const { token, senders, faults, counts } = state;
  const running = [
    every(state, SUBMISSION_INTERVAL_MS, (count) =>
      submit(state, present(senders[count % SENDERS]), present(senders[(count + 1) % SENDERS])),
    ),
    every(state, READ_INTERVAL_MS, (count) => fetchPath(state, present(PATHS[count % PATHS.length]))),
    every(state, SCRAPE_INTERVAL_MS, () => fetchPath(state, "/metrics", { authorization: token })),
    every(state, SCRAPE_INTERVAL_MS, () => fetchPath(state, "/health/status")),
  ];
  return {
    faults,
    counts,
    async stop() {
      state.isStopped = true;
      await Promise.all(running);
    },
  };
}

/** Repeats work until the traffic is stopped. */
async function every(
  state: State,
  intervalMs: number,
  work: (count: number) => Promise<void>,
): Promise<void> {
  for (let count = 0; !state.isStopped; count++) {
    await work(count).catch((error: Error) => {
      if (!state.isStopped) state.faults.push(error.message);
    });
    await sleep(intervalMs);
  }
}

/** Requests a path; a 5xx response, or none, is a fault. */
async function fetchPath(state: State, path: string, headers: Record<string, string> = {}): Promise<void> {
  const { url, faults, counts } = state;
  counts.requests += 1;
  try {
    const response = await fetch(`${url}${path}`, {
      headers,
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    if (response.status >= 500) faults.push(`${path} responded with ${response.status}`);
  } catch (error) {
    if (!state.isStopped) faults.push(`${path}: ${(error as Error).message}`);
  }
}

/** Sends ten transfers of one sender when the previous ones are on the chain. */
async function submit(
  { client, counts, faults }: State,
  sender: DevAccount,
  recipient: DevAccount,
): Promise<void> {
  const wallet = (await client.get(`/api/v2/wallets/${sender.address}`)) as { nonce: string };
  const nonce = BigInt(wallet.nonce) + 1n;
  const transfers = Array.from({ length: TRANSFERS_PER_SUBMISSION }, (_, index) =>
    transferOf(client.network, sender, recipient.address, nonce + BigInt(index)),
  );
  counts.requests += 1;
  const { status, accepted } = await client.submit(transfers);
  counts.accepted += accepted.length;
  if (status >= 500) faults.push(`a submission failed with status ${status}`);
}
