/** Arguments of `uniknode tx`, and the transactions that its commands build from them. */
import { createClient, type SingleWallet } from "@uniknode/client";
import {
  addressFromPublicKey,
  bytesToHex,
  createNetwork,
  dalinet,
  keysFromPassphrase,
} from "@uniknode/protocol";
import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import { readReceiverUrl } from "../../src/commands/conform/conform-options.ts";
import {
  type BuildContext,
  type Kind,
  readAddress,
  readAnother,
  readHex64,
  readLimit,
  readPair,
  readPayment,
  readTokens,
  readUnikType,
} from "../../src/commands/tx/kind.ts";
import * as uniks from "../../src/commands/tx/uniks.ts";
import * as payments from "../../src/commands/tx/wallets.ts";
import * as wallets from "../../src/commands/tx/wallets.ts";

const ADDRESS = "DAxkNhWf8g3spepbDYYpz5F3rKVEhmiSpP";

describe("parsing of arguments", () => {
  test("The parser reads amounts, ids, addresses and numbers.", () => {
    expect(readTokens("12.5")).toBe(1_250_000_000n);
    expect(readHex64("ab".repeat(32))).toBe("ab".repeat(32));
    expect(readAddress(ADDRESS)).toBe(ADDRESS);
    expect([readLimit("0"), readLimit("4294967295")]).toEqual([0, 4_294_967_295]);
    expect(["individual", "organization", "network"].map(readUnikType)).toEqual([1, 2, 3]);
  });

  test("Repeatable options are collected.", () => {
    const payments = readPayment(`${ADDRESS}=2`, readPayment(`${ADDRESS}=1`));
    expect(payments.map(({ amount }) => amount)).toEqual([100_000_000n, 200_000_000n]);
    expect(readPair("b=", readPair("a=b=c"))).toEqual([
      ["a", "b=c"],
      ["b", ""],
    ]);
    expect(readAnother("b", readAnother("a"))).toEqual(["a", "b"]);
  });
});

test.each<[string, () => unknown]>([
  ["an amount", () => readTokens("1,5")],
  ["an amount with nine decimals", () => readTokens("0.123456789")],
  ["an id that is too short", () => readHex64("ab")],
  ["an id in capitals", () => readHex64("AB".repeat(32))],
  ["an address that is too long", () => readAddress(`${ADDRESS}a`)],
  ["an address with an invalid character", () => readAddress(ADDRESS.replace("D", "0"))],
  ["a negative number", () => readLimit("-1")],
  ["a number with a fraction", () => readLimit("1.5")],
  ["a number that is too large", () => readLimit("99999999999999999999")],
  ["a payment without amount", () => readPayment(ADDRESS)],
  ["a payment of two amounts", () => readPayment(`${ADDRESS}=1=2`)],
  ["a payment without a recipient", () => readPayment("x=1")],
  ["a pair without name", () => readPair("=a")],
  ["a pair without value", () => readPair("a")],
  ["a name with two values", () => readPair("a=2", readPair("a=1"))],
  ["a type of unik", () => readUnikType("human")],
  ["the name of an inherited member", () => readUnikType("toString")],
])("%s is refused", (_what, read) => {
  expect(read).toThrow(InvalidArgumentError);
});

test("A time in milliseconds is refused as the limit of a lock: its bytes would contain another one.", () => {
  const text = String(Date.parse("2030-01-01T00:00:00Z"));
  const run = () =>
    payments.lock
      .command()
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parse([OWN, "2", HASH, "--until-time", text], { from: "user" });
  expect(run).toThrow(/--until-time .*at most 4294967295 .*in seconds/);
  expect(() => readLimit("4294967296")).toThrow(InvalidArgumentError);
});

test("Only HTTP URLs are receivers of conform.", () => {
  expect(readReceiverUrl("https://receiver.example/hook")).toBe("https://receiver.example/hook");
  for (const text of ["ftp://127.0.0.1/", "http://", "receiver"])
    expect(() => readReceiverUrl(text)).toThrow("a URL such as http://127.0.0.1:8000/hook is expected");
});

const [UNIK, FACTORY, HASH] = ["aa".repeat(32), "bb".repeat(32), "cc".repeat(32)];
const [keys, other, factory] = ["alice", "second", "factory"].map(keysFromPassphrase) as [
  BuildContext["keys"],
  BuildContext["keys"],
  BuildContext["keys"],
];
const network = createNetwork(dalinet);
const senderPublicKey = bytesToHex(keys.publicKey);
const OWN = addressFromPublicKey(senderPublicKey, network.description.pubKeyHash);
const DELEGATE = bytesToHex(other.publicKey);

/** A wallet that votes and owns a unik, and a node that knows one delegate and one unik. */
const context: BuildContext = {
  client: createClient({
    url: "http://127.0.0.1:1",
    fetch: async (input) => {
      const path = new URL(input instanceof Request ? input.url : input).pathname;
      if (path.endsWith(`/uniks/${UNIK}`)) return Response.json({ data: { id: UNIK, type: "2" } });
      if (path.endsWith(`/delegates/${DELEGATE}`)) return Response.json({ data: { publicKey: DELEGATE } });
      return Response.json({ meta: { next: null, nextCursor: null }, data: [] });
    },
  }),
  network,
  keys,
  address: OWN,
  wallet: {
    publicKey: senderPublicKey,
    vote: DELEGATE,
    attributes: { tokens: { [UNIK]: {} } },
  } as unknown as SingleWallet,
  envelope: { network, senderPublicKey, height: 4_100_000, nonce: 1n },
  readSecondKeys: async () => other,
  readFactoryKeys: async () => factory,
};

async function bodyOf(kind: Kind, args: readonly string[]) {
  const command = kind
    .command()
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.parse(args, { from: "user" });
  return kind.createBuild(command)(context);
}

const payload = (cost: bigint) => ({ iss: FACTORY, cost });
const nft = (properties: object) => ({ nft: { unik: { tokenId: UNIK, properties } } });

const BUILT: [kind: Kind, args: readonly string[], body: object][] = [
  [
    payments.transfer,
    [OWN, "1.5", "--vendor-field", "hi"],
    { recipientId: OWN, amount: 150_000_000n, vendorField: "hi" },
  ],
  [
    payments.multiPayment,
    [`${OWN}=1`, `${OWN}=2`],
    { asset: { payments: [1n, 2n].map((tokens) => ({ recipientId: OWN, amount: tokens * 100_000_000n })) } },
  ],
  [
    payments.lock,
    [OWN, "2", HASH, "--until-height", "9"],
    { amount: 200_000_000n, asset: { lock: { secretHash: HASH, expiration: { type: 2, value: 9 } } } },
  ],
  [
    payments.lock,
    [OWN, "2", HASH, "--until-time", "7"],
    { asset: { lock: { secretHash: HASH, expiration: { type: 1, value: 7 } } } },
  ],
  [payments.claim, [UNIK, HASH], { asset: { claim: { lockTransactionId: UNIK, unlockSecret: HASH } } }],
  [payments.refund, [UNIK], { asset: { refund: { lockTransactionId: UNIK } } }],
  [wallets.secondSignature, [], { asset: { signature: { publicKey: DELEGATE } } }],
  [wallets.vote, [DELEGATE], { asset: { votes: [`+${DELEGATE}`] } }],
  [wallets.unvote, [], { asset: { votes: [`-${DELEGATE}`] } }],
  [wallets.registerDelegate, [HASH], { asset: { delegate: { username: HASH } } }],
  [wallets.registerDelegate, [], { asset: { delegate: { username: UNIK } } }],
  [wallets.resignDelegate, [], { typeGroup: 2001, type: 2 }],
  [
    wallets.ipfs,
    ["QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG"],
    { asset: { ipfs: "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG" } },
  ],
  [uniks.mint, [UNIK, "network", "--property", "a=1"], { asset: nft({ type: "3", a: "1" }) }],
  [
    uniks.mint,
    [UNIK, "individual", "--factory", FACTORY, "--cost", "2"],
    { asset: { ...nft({ type: "1" }), certification: { payload: payload(200_000_000n) } } },
  ],
  [uniks.update, [UNIK, "--property", "a=1", "--remove", "b"], { asset: nft({ a: "1", b: null }) }],
  [
    uniks.update,
    [UNIK, "--remove", "b", "--factory", FACTORY],
    { asset: { ...nft({ b: null }), certification: { payload: payload(0n) } } },
  ],
  [uniks.transferUnik, [UNIK, OWN], { recipientId: OWN, asset: { nft: { unik: { tokenId: UNIK } } } }],
  [
    uniks.transferUnik,
    [UNIK, OWN, "--factory", FACTORY],
    { recipientId: OWN, asset: { certification: { payload: payload(0n) } } },
  ],
  [
    uniks.disclose,
    [UNIK, "alice", "--factory", FACTORY],
    { asset: { "disclose-demand": { payload: { sub: UNIK, explicitValue: ["alice"], type: 2 } } } },
  ],
];

/** Name and flags of a command line. */
const nameOf = (kind: Kind, args: readonly string[]) =>
  [kind.command().name(), ...args.filter((arg) => arg.startsWith("--"))].join(" ");

test.each(BUILT.map(([kind, args, body]) => ({ name: nameOf(kind, args), kind, args, body })))(
  "The command tx $name builds the transaction that its arguments describe.",
  async ({ kind, args, body }) => {
    expect(await bodyOf(kind, args)).toMatchObject(body);
  },
);

const CONTRADICTIONS: [kind: Kind, args: readonly string[], message: string][] = [
  [payments.multiPayment, [`${OWN}=1`], "at least two ADDRESS=AMOUNT"],
  [payments.lock, [OWN, "1", HASH], "exactly one of --until-height and --until-time"],
  [payments.lock, [OWN, "1", HASH, "--until-height", "1", "--until-time", "1"], "exactly one of"],
  [uniks.mint, [UNIK, "individual", "--property", "type=2"], "the type is the second argument"],
  [uniks.mint, [UNIK, "individual", "--cost", "2"], "--cost requires --factory"],
  [uniks.update, [UNIK], "at least one --property or --remove is required"],
  [uniks.update, [UNIK, "--property", "a=1", "--remove", "a"], "a cannot be both set and removed"],
];

test.each(CONTRADICTIONS.map(([kind, args, message]) => ({ name: nameOf(kind, args), kind, args, message })))(
  "The command tx $name is refused: $message",
  async ({ kind, args, message }) => {
    await expect(bodyOf(kind, args)).rejects.toThrow(message);
  },
);
