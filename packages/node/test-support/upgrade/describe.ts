/** Responses of the API about a chain, its state, its webhooks and their deliveries. */
import type { createClient } from "@uniknode/client";

type Client = ReturnType<typeof createClient>;

export const WEBHOOK_TOKEN = "upgrade";

export async function describeChain(client: Client) {
  const { blocks, transactions, wallets, uniks, webhooks, delegates } = client;
  const all = async <T, U>(list: AsyncIterable<T>, pick: (item: T) => U): Promise<U[]> => {
    const items: U[] = [];
    for await (const item of list) items.push(pick(item));
    return items;
  };
  const registered = await all(webhooks.list(), (webhook) => webhook);
  const { data: supply } = await client.blockchain.get();
  return {
    head: supply.block,
    supply: supply.supply,
    blocks: await all(blocks.list(), ({ height, id }) => `${height} ${id}`),
    transactions: await all(transactions.list(), ({ id }) => id),
    wallets: (
      await all(wallets.list(), ({ address, balance, nonce }) => `${address} ${balance} ${nonce}`)
    ).sort(),
    delegates: (await all(delegates.list(), ({ username, votes }) => `${username} ${votes}`)).sort(),
    uniks: (await all(uniks.list(), ({ id, ownerId }) => `${id} ${ownerId}`)).sort(),
    // Their health depends on the time of the request.
    webhooks: registered.map(({ queued: _queued, failing: _failing, ...definition }) => definition),
    deliveries: await Promise.all(
      registered.map(({ id }) =>
        all(webhooks.deliveries(id), ({ messageId, event, sequence, height }) => ({
          messageId,
          event,
          sequence,
          height,
        })),
      ),
    ),
  };
}
