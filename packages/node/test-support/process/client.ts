/** Calls of tests and benchmarks to a running node. */
import {
  builders,
  createNetwork,
  type Network,
  type NetworkFiles,
  signTransaction,
  type Transaction,
  transactionToJson,
} from "@uniknode/protocol";
import type { DevAccount } from "../../src/dev-chain/keys.ts";

export type Client = {
  /** Configuration of the network as the node describes it. */
  readonly network: Network;
  /** Returns `data` of a GET response. */
  get(path: string): Promise<unknown>;
  /** Submits transactions; returns status and body of the response. */
  submit(
    transactions: readonly Transaction[],
  ): Promise<{ status: number; accepted: string[]; errors: Record<string, { type: string }[]> }>;
};

/** Client of the node at a base URL. */
export async function connect(baseUrl: string): Promise<Client> {
  async function get(path: string): Promise<unknown> {
    const response = await fetch(`${baseUrl}${path}`, { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`${path} returned ${response.status}`);
    return ((await response.json()) as { data: unknown }).data;
  }
  return {
    network: createNetwork((await get("/api/node/configuration/crypto")) as NetworkFiles),
    get,
    async submit(transactions) {
      const response = await fetch(`${baseUrl}/api/v2/transactions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ transactions: transactions.map(transactionToJson) }),
      });
      const { data, errors = {} } = (await response.json()) as {
        data?: { accept: string[] };
        errors?: Record<string, { type: string }[]>;
      };
      return { status: response.status, accepted: data?.accept ?? [], errors };
    },
  };
}

/** Signed transfer of one smallest unit. */
export const transferOf = (
  network: Network,
  { publicKey, keys }: DevAccount,
  recipientId: string,
  nonce: bigint,
): Transaction =>
  signTransaction(
    builders.transfer({ network, senderPublicKey: publicKey, nonce, recipientId, amount: 1n }),
    keys,
  );
