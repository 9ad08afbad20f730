/** Submits transactions to a node of a version, one or forty per request, until all are in its pool. */
import { Agent, request } from "node:http";
import {
  builders,
  createNetwork,
  networkFilesFromJson,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";
import { type DevAccount, deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Tree } from "../trees.ts";
import { type Figures, processorSeconds, withDevChain } from "./process.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const SENDERS = 10;
/**
 * Requests of each sender, sequential because of the nonces. The first 1,500 transactions of a process cost 50 % more while
 * the engine compiles; the last kind is the first one without that.
 */
const REQUESTS = { one: 150, forty: 15, "later one": 300 };
const AT_ONCE = { one: 1, forty: 40, "later one": 1 };
/** Options for a pool that holds the load of all kinds. */
const OPTIONS = ["--pool-max-per-sender", "5000", "--accounts", String(SENDERS)];

type Kind = keyof typeof REQUESTS;
type CryptoResponse = { readonly data: Parameters<typeof networkFilesFromJson>[0] };

export const measureSubmissions = (tree: Tree): Promise<Figures> =>
  withDevChain(tree, OPTIONS, async ({ child, url }) => {
    const response = await fetch(`${url}/api/v2/node/configuration/crypto`);
    const network = createNetwork(networkFilesFromJson(((await response.json()) as CryptoResponse).data));
    const accounts = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
    const senders = Array.from({ length: SENDERS }, (_, index) => accounts(`account ${index}`));
    const nonces = await Promise.all(senders.map((sender) => nonceOf(url, sender)));

    /** Request bodies of a sender. */
    function bodiesOf(kind: Kind, { keys, publicKey, address }: DevAccount, index: number): string[] {
      return Array.from({ length: REQUESTS[kind] }, () => {
        const transactions = Array.from({ length: AT_ONCE[kind] }, () => {
          const nonce = present(nonces[index]) + 1n;
          nonces[index] = nonce;
          const body = { network, senderPublicKey: publicKey, nonce, recipientId: address, amount: 1n };
          return transactionToJson(signTransaction(builders.transfer(body), keys));
        });
        return JSON.stringify({ transactions });
      });
    }

    const figures: Record<string, number> = {};
    for (const kind of ["one", "forty", "later one"] as const) {
      const bodies = senders.map((sender, index) => bodiesOf(kind, sender, index));
      const [began, before] = [performance.now(), processorSeconds(present(child.pid))];
      await Promise.all(
        bodies.map((ofSender) => postAll(`${url}/api/v2/transactions`, ofSender, AT_ONCE[kind])),
      );
      const count = SENDERS * REQUESTS[kind] * AT_ONCE[kind];
      figures[`${kind} a request, transactions 1/s`] = (count / (performance.now() - began)) * 1_000;
      figures[`${kind} a request, us of processor time a transaction`] =
        ((processorSeconds(present(child.pid)) - before) / count) * 1e6;
    }
    return figures;
  });

async function nonceOf(url: string, { address }: DevAccount): Promise<bigint> {
  const response = await fetch(`${url}/api/v2/wallets/${address}`);
  return BigInt(((await response.json()) as { data: { nonce: string } }).data.nonce);
}

/** Sends requests sequentially over one connection. */
async function postAll(url: string, bodies: readonly string[], accepted: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const body of bodies) {
    const text = await post(agent, url, body);
    if (JSON.parse(text).data?.accept?.length !== accepted)
      throw new Error(`the node did not accept: ${text}`);
  }
  agent.destroy();
}

function post(agent: Agent, url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
