/**
 * The types of the client are those of our responses: the compiler compares them, and a real server returns
 * them.
 */
import * as api from "@uniknode/client";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import type { AdmissionResult, NodeStatus, PeerInfo } from "../../../src/gateway/gateway.ts";
import type { JsonText } from "../../../src/http/core/text.ts";
import type { Meta } from "../../../src/http/requests/pagination.ts";
import type { blockResponse, rawBlockResponse } from "../../../src/http/responses/block.ts";
import type { delegateResponse } from "../../../src/http/responses/delegate.ts";
import type { lockResponse } from "../../../src/http/responses/lock.ts";
import type { transactionResponse } from "../../../src/http/responses/transaction.ts";
import type { tokenSummary } from "../../../src/http/responses/unik.ts";
import type { singleWalletResponse, walletResponse } from "../../../src/http/responses/wallet.ts";
import type {
  showDelivery,
  showReplay,
  showRotated,
  showWithHealth,
} from "../../../src/http/webhooks/responses.ts";
import type { FeeStatistics } from "../../../src/read/rows.ts";
import type { DryRunReport } from "../../../src/webhooks/dry-run.ts";
import { alice, bob, carol, chain, cold, heads, unik } from "../../../test-support/http/chain.ts";
import { openFixture } from "../../../test-support/http/fixture.ts";
import { longer, more } from "../../../test-support/http/longer.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";

type Shown<F extends (...given: never[]) => unknown> =
  ReturnType<F> extends JsonText<infer Value> ? Value : ReturnType<F>;

/** Our server's responses are assignable to the client's types. */
test("Responses match the client's types.", () => {
  expectTypeOf<Shown<typeof blockResponse>>().toExtend<api.Block>();
  expectTypeOf<Shown<typeof rawBlockResponse>>().toExtend<api.RawBlock>();
  expectTypeOf<
    Shown<typeof transactionResponse> & { amount: string; fee: string; asset?: Record<string, unknown> }
  >().toExtend<api.Transaction>();
  expectTypeOf<Shown<typeof delegateResponse> & { type: api.Delegate["type"] }>().toExtend<api.Delegate>();
  expectTypeOf<Shown<typeof lockResponse> & { expirationType: 1 | 2 }>().toExtend<api.Lock>();
  expectTypeOf<Shown<typeof tokenSummary>>().toExtend<api.Unik>();
  expectTypeOf<Shown<typeof walletResponse>>().toExtend<Omit<api.Wallet, "attributes">>();
  expectTypeOf<Shown<typeof singleWalletResponse>>().toExtend<Omit<api.SingleWallet, "attributes">>();
  expectTypeOf<Meta>().toExtend<api.PageMeta>();
  expectTypeOf<NodeStatus>().toExtend<api.NodeStatus>();
  expectTypeOf<PeerInfo>().toExtend<api.Peer>();
  expectTypeOf<AdmissionResult>().toExtend<api.Submission>();
  expectTypeOf<FeeStatistics>().toExtend<api.FeeStatistics>();
  expectTypeOf<Omit<DryRunReport, "fired" | "notFired">>().toExtend<Omit<api.DryRun, "fired" | "notFired">>();
  type Register = Shown<typeof showWithHealth> & {
    event: string;
    conditions: api.Condition[];
    match?: "all";
    order?: "strict";
    proof?: true;
  };
  expectTypeOf<Register>().toExtend<api.Webhook>();
  expectTypeOf<Shown<typeof showRotated> & Register>().toExtend<api.WebhookWithToken>();
  expectTypeOf<Shown<typeof showReplay>>().toExtend<api.Replay>();
  expectTypeOf<
    Shown<typeof showDelivery> & { undone?: true; body?: Record<string, unknown> }
  >().toExtend<api.DeliveryRecord>();
});

const fixture = openFixture({}, {}, longer);
let client: api.Client;
beforeAll(async () => {
  const { port } = await fixture.listen();
  client = api.createClient({ url: `http://127.0.0.1:${port}`, timeoutMs: WAIT_MS });
});
afterAll(() => fixture.close());

async function read<Row>(list: AsyncIterable<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) rows.push(row);
  return rows;
}

describe("values", () => {
  test("The requested form determines the type of the response.", async () => {
    const { data: shown } = await client.blocks.get(3);
    expect([shown.confirmations, shown.forged.total]).toEqual([3, "240000000"]);
    const { data: raw } = await client.blocks.get(heads.third.id, { transform: false });
    expect([raw.numberOfTransactions, raw.reward]).toEqual([4, "200000000"]);
    expectTypeOf(shown).toEqualTypeOf<api.Block>();
    expectTypeOf(raw).toEqualTypeOf<api.RawBlock>();
  });

  test("Amounts are texts, except those of a single wallet, a single transaction, and the supply.", async () => {
    const { data: wallet, chainmeta } = await client.wallets.get(cold.address);
    expect(wallet).toMatchObject({ publicKey: "", username: "", secondPublicKey: null });
    expect([typeof wallet.balance, chainmeta.height]).toEqual(["number", 6]);
    const { data: transaction } = await client.transactions.get(chain.sent.hello.data.id);
    expect(transaction).toMatchObject({ amount: 5, fee: 10_000_000, asset: {} });
    // Larger than a number can represent exactly.
    expect(typeof (await client.blockchain.get()).data.supply).toBe("bigint");
    const { data: wallets } = await client.wallets.list({ address: alice.address }).page();
    expect(wallets[0]?.balance).toMatch(/^\d+$/);
    const [listed] = await read(client.transactions.list({ id: chain.sent.hello.data.id }));
    expect(listed).toMatchObject({ amount: "5", fee: "10000000" });
  });

  test("The iteration returns complete lists, and pages have the requested size.", async () => {
    expect((await read(client.blocks.list({ orderBy: "height:asc" }))).map(({ height }) => height)).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
    const { data, meta } = await client.blocks.list().page({ page: 2, limit: 4 });
    expect(data.map(({ height }) => height)).toEqual([2, 1]);
    expect(meta).toMatchObject({ count: 2, pageCount: 2, totalCount: 6, next: null });
    const offset = await client.blocks.list().page({ offset: 5 });
    expect(offset.data.map(({ height }) => height)).toEqual([1]);
  });

  test("The client returns the values of searches and filters.", async () => {
    const between = client.blocks.search({ height: { from: 2, to: 3 }, orderBy: "height:asc" });
    expect((await read(between)).map(({ height }) => height)).toEqual([2, 3]);
    const votes = await read(client.transactions.search({ asset: { votes: [`+${bob.publicKey}`] } }));
    expect(votes.map(({ id }) => id)).toEqual([chain.sent.vote.data.id]);
    const [unlocked] = await read(client.locks.search({ amount: { from: 800n } }));
    expect(unlocked).toMatchObject({ lockId: more.third.data.id, amount: "900", expirationType: 1 });
    expect(await read(client.delegates.list({ type: "resigned" }))).toHaveLength(1);
  });

  test("The client returns properties, whose keys contain slashes.", async () => {
    const { data } = await client.uniks.property(unik.alice, "Badges/Security/Multisig");
    expect(data).toBe("false");
    const properties = await read(client.uniks.properties(unik.alice));
    expect(properties).toContainEqual({ "Badges/XPLevel": "1" });
    const { data: found } = await client.uniks.get(unik.alice);
    expect(found).toMatchObject({ ownerId: alice.address, defaultExplicitValue: "alice" });
    expect(found.transactions.first.id).toBe(chain.sent.mint.data.id);
  });

  test("An unknown object is reported by its code, and an invalid request by its status.", async () => {
    const unknown = client.wallets.get(carol.address.replace(/.$/, "x"));
    await expect(unknown).rejects.toMatchObject({ code: "API_NOT_FOUND", status: 404 });
    const malformed = client.blocks.list({ height: -1 }).page();
    await expect(malformed).rejects.toMatchObject({ code: "API_REFUSED", status: 422 });
    const token = client.uniks.list().page({ limit: 101 });
    await expect(token).rejects.toMatchObject({ status: 400, body: { validation: { keys: ["limit"] } } });
  });
});
