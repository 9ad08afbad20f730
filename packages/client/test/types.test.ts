/**
 * Types that programs around the node rely on. `npm run check` tests them: a `@ts-expect-error` above valid
 * code is an error itself. Nothing of it needs to run.
 */
import { describe, expectTypeOf, test } from "vitest";
import {
  type Amount,
  type Block,
  type BlockContent,
  type Client,
  type Condition,
  createClient,
  type Delivery,
  DeliveryError,
  type DeliveryErrorCode,
  isEvent,
  type PageMeta,
  type RawBlock,
  type RawTransaction,
  type SingleTransaction,
  type StreamedEvent,
  type Transaction,
  type VerifiedDelivery,
  type VoteContent,
  verifyDelivery,
  type Webhook,
  type WebhookWithToken,
  type WholeAmount,
  type WithChainmeta,
} from "../src/index.ts";

/** Sends no request before one of its functions is called, and none is. */
const client: Client = createClient({ url: "http://127.0.0.1:1" });
const delivery: Delivery = { id: "1", event: "ping", timestamp: 0, webhookId: 1 };

describe("the client", () => {
  test("The client needs a URL, and accepts no unknown options.", () => {
    expectTypeOf(createClient).toBeCallableWith({ url: "http://127.0.0.1:4003", webhookToken: "token" });
    // @ts-expect-error without a URL there is no node
    expectTypeOf(createClient).toBeCallableWith({});
    // @ts-expect-error no such option
    expectTypeOf(() => createClient({ url: "http://127.0.0.1:4003", token: "token" })).toBeFunction();
  });

  test("The client returns blocks in the form that the query asks for.", () => {
    const first = () => client.blocks.get(1);
    expectTypeOf(first).returns.resolves.toEqualTypeOf<{ readonly data: Block } & unknown>();
    const raw = () => client.blocks.get("1", { transform: false });
    expectTypeOf(raw).returns.resolves.toHaveProperty("data").toEqualTypeOf<RawBlock>();
    expectTypeOf<Block["forged"]["reward"]>().toEqualTypeOf<Amount>();
    expectTypeOf<Amount>().toEqualTypeOf<string>();
  });

  test("The client iterates lists by row, or requests them page by page.", () => {
    const list = () => client.transactions.list({ senderId: "address", orderBy: "amount:desc" });
    expectTypeOf(list).returns.toExtend<AsyncIterable<Transaction>>();
    const page = () => list().page({ limit: 10 });
    expectTypeOf(page).returns.resolves.toHaveProperty("meta").toEqualTypeOf<PageMeta>();
    expectTypeOf(page).returns.resolves.toHaveProperty("data").toEqualTypeOf<readonly Transaction[]>();
    const raw = () => client.transactions.list({ transform: false });
    expectTypeOf(raw).returns.toExtend<AsyncIterable<RawTransaction>>();
    // @ts-expect-error no such order
    expectTypeOf(client.transactions.list).toBeCallableWith({ orderBy: "amount" });
    // @ts-expect-error no such filter
    expectTypeOf(client.transactions.list).toBeCallableWith({ sender: "address" });
  });

  test("A single transaction of the client has exact amounts and the head at which it was read.", () => {
    const get = () => client.transactions.get("id");
    expectTypeOf(get).returns.resolves.toEqualTypeOf<{ readonly data: SingleTransaction } & WithChainmeta>();
    expectTypeOf<SingleTransaction["amount"]>().toEqualTypeOf<WholeAmount>();
    // @ts-expect-error an id of a transaction is text
    expectTypeOf(client.transactions.get).toBeCallableWith(1);
  });

  test("The secret of a webhook is only in the response that created it.", () => {
    const create = () =>
      client.webhooks.create({ event: "block.applied", target: "https://receiver.example/", conditions: [] });
    expectTypeOf(create).returns.resolves.toHaveProperty("data").toEqualTypeOf<WebhookWithToken>();
    expectTypeOf<WebhookWithToken>().toExtend<Webhook>();
    expectTypeOf<Webhook>().not.toHaveProperty("secret");
    // @ts-expect-error without a target nothing can be sent
    expectTypeOf(client.webhooks.create).toBeCallableWith({ event: "block.applied", conditions: [] });
    // @ts-expect-error no such operator
    expectTypeOf({ key: "height", condition: "above", value: 1 } as const).toExtend<Condition>();
  });
});

describe("verification of deliveries", () => {
  test("The verification accepts headers of fetch and of Node.js, and the raw body.", () => {
    expectTypeOf(verifyDelivery).toBeCallableWith(
      { headers: new Headers(), body: "{}" },
      { secret: "whsec_" },
    );
    const headers: Record<string, string | string[] | undefined> = {};
    expectTypeOf(verifyDelivery).toBeCallableWith(
      { headers, body: new Uint8Array() },
      { secret: ["one", "two"], scheme: "authorization", toleranceMs: 1_000 },
    );
    // @ts-expect-error a body that was parsed is another one
    expectTypeOf(verifyDelivery).toBeCallableWith({ headers, body: {} }, { secret: "whsec_" });
    // @ts-expect-error nothing is verified without a secret
    expectTypeOf(verifyDelivery).toBeCallableWith({ headers, body: "{}" }, {});
    expectTypeOf(verifyDelivery).returns.resolves.toEqualTypeOf<VerifiedDelivery>();
  });

  test("The content of a delivery is unknown until the event is compared.", () => {
    expectTypeOf(delivery.data).toBeUnknown();
    const read = (message: Delivery) => {
      if (isEvent(message, "block.applied")) expectTypeOf(message.data).toEqualTypeOf<BlockContent>();
      else if (isEvent(message, "wallet.vote")) expectTypeOf(message.data).toEqualTypeOf<VoteContent>();
      else expectTypeOf(message).toEqualTypeOf<Delivery>();
    };
    expectTypeOf(read).parameter(0).toEqualTypeOf<Delivery>();
    const stream = (message: StreamedEvent) =>
      isEvent(message, "transaction.applied") && message.data.blockId;
    expectTypeOf(stream).returns.toEqualTypeOf<string | false>();
    // @ts-expect-error no event has this name
    expectTypeOf(isEvent).toBeCallableWith(delivery, "block.lost");
  });

  test("An error of the verification has its code, its details, and whether a retry helps.", () => {
    expectTypeOf<DeliveryError["code"]>().toEqualTypeOf<DeliveryErrorCode>();
    expectTypeOf<DeliveryError["isRetryable"]>().toExtend<boolean>();
    const age = ({ type }: DeliveryError) => (type.code === "DELIVERY_TOO_OLD" ? type.ageMs : undefined);
    expectTypeOf(age).returns.toEqualTypeOf<number | undefined>();
    expectTypeOf(DeliveryError).toBeConstructibleWith({ code: "DELIVERY_SIGNATURE_WRONG" }, "message");
  });
});
