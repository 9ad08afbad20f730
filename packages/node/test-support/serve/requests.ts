/** Requests that an API server and its node must respond to in the same way, with values of the chain. */
import assert from "node:assert";

/** Reads the `data` of a response of the node. */
export type ReadData = <T>(path: string) => Promise<T>;

/** Paths of every resource, with ids of the chain. */
export async function resourcePaths(data: ReadData): Promise<string[]> {
  const [block] = await data<{ id: string }[]>("/api/v2/blocks?limit=1&orderBy=numberOfTransactions:desc");
  const [transaction] = await data<{ id: string; sender: string }[]>("/api/v2/transactions?limit=1");
  const [wallet] = await data<{ address: string }[]>("/api/v2/wallets?limit=1");
  const [unik] = await data<{ id: string; ownerId: string }[]>("/api/v2/uniks?limit=1");
  const [delegate] = await data<{ username: string }[]>("/api/v2/delegates?limit=1");
  assert(block && transaction && wallet && unik && delegate);
  return [
    ...["/blockchain", "/blocks", "/blocks/first", "/blocks/last", `/blocks/${block.id}`],
    ...[`/blocks/${block.id}/transactions`, "/blocks?orderBy=totalFee:asc&limit=7", "/delegates", "/locks"],
    ...[
      `/delegates/${delegate.username}`,
      `/delegates/${delegate.username}/blocks`,
      "/entities",
      "/rounds/1/delegates",
    ],
    ...[
      "/node/configuration",
      "/node/configuration/crypto",
      "/node/fees",
      "/node/status",
      "/node/syncing",
      "/peers",
    ],
    ...[
      "/transactions",
      `/transactions/${transaction.id}`,
      "/transactions/unconfirmed",
      "/transactions/fees",
    ],
    ...[
      "/transactions/types",
      "/transactions/schemas",
      "/transactions?type=1&typeGroup=2000&limit=3",
      "/votes",
    ],
    ...["/uniks", `/uniks/${unik.id}`, `/uniks/${unik.id}/properties`, "/nfts", "/wallets", "/wallets/top"],
    ...[`/wallets/${wallet.address}`, `/wallets/${wallet.address}/transactions`, `/wallets/${unik.ownerId}`],
    ...["/wallets/unknown", "/blocks/0", "/transactions?orderBy=nothing", "/unknown", "/uniks?limit=1000"],
    ...[
      `/transactions/${transaction.id}/proof`,
      "/blocks/20/proof",
      "/blocks/20/proof?checkpoint=12",
      "/blocks/2/proof",
    ],
    ...["/openapi.json", "/webhooks", "/facts/checkpoint", "/operations/options"],
  ].map((path) => `/api/v2${path}`);
}

/** Searches of every list, with values of the chain, and the status of their responses. */
export async function searches(data: ReadData): Promise<[path: string, body: object, status?: number][]> {
  const [block] = await data<{ generator: { publicKey: string } }[]>("/api/v2/blocks?limit=1");
  const [transaction] = await data<{ id: string; sender: string; senderPublicKey: string }[]>(
    "/api/v2/transactions?limit=1",
  );
  const [delegate] = await data<{ username: string; address: string }[]>("/api/v2/delegates?limit=1");
  const uniks = await data<{ id: string; ownerId: string }[]>("/api/v2/uniks?limit=2");
  assert(block && transaction && delegate && uniks[0]);
  const { sender, senderPublicKey } = transaction;
  return [
    ["/blocks/search?limit=7", { orderBy: "totalFee:desc", height: { from: 3, to: 30 } }],
    ["/blocks/search", { generatorPublicKey: block.generator.publicKey, numberOfTransactions: { from: 0 } }],
    ["/transactions/search", { orderBy: "amount:asc", senderPublicKey, fee: { from: 1 } }],
    ["/transactions/search", { addresses: [sender], vendorField: "a" }],
    ["/transactions/search?page=2&limit=2", { asset: { nft: {} }, timestamp: { from: 0 } }],
    ["/transactions/search", { id: transaction.id }],
    ["/wallets/search?orderBy=username:desc", { balance: { from: "1" } }],
    ["/wallets/search", { addresses: [sender, delegate.address] }],
    ["/delegates/search?orderBy=voteBalance:desc", { approval: { from: 0 }, producedBlocks: { from: 0 } }],
    ["/delegates/search", { usernames: [delegate.username] }],
    ["/locks/search", { amount: { from: 1 } }],
    ["/locks/search?orderBy=vendorField:asc", { isExpired: false }],
    ["/entities/search", { type: 0 }],
    ["/uniks/search", { orderBy: "ownerId:desc", id: uniks.map(({ id }) => id) }],
    ["/uniks/search", { ownerId: uniks[0].ownerId }],
    ["/blocks/search", { height: { from: "x" } }, 422],
    ["/transactions/search", { orderBy: "nothing" }, 422],
  ];
}

/** Lists that are walked by cursors. */
export const WALKS: readonly string[] = [
  ...["height:asc", "totalFee:desc"].map((order) => `/blocks?limit=20&orderBy=${order}`),
  ...["timestamp:asc", "amount:desc", "vendorField:asc", "vendorField:desc"].map(
    (order) => `/transactions?limit=5&orderBy=${order}`,
  ),
  ...["balance:desc", "username:asc", "secondPublicKey:desc", "resigned:asc", "voteBalance:desc"].map(
    (order) => `/wallets?limit=5&orderBy=${order}`,
  ),
  ...["id:desc", "ownerId:asc"].map((order) => `/uniks?limit=2&orderBy=${order}`),
  ...["/delegates?limit=3&orderBy=username:asc", "/locks?limit=2", "/entities?limit=2", "/votes?limit=2"],
].map((path) => `/api/v2${path}`);
