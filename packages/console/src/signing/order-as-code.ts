/** Shows an order as a command and as code. */
import { quoted } from "../components/equivalents.ts";
import { plainAmount } from "./amount.ts";
import type { Order, Terms } from "./order.ts";

export type Chosen = Partial<Pick<Terms, "fee" | "nonce">>;

/** @param delegate typed text of the delegate */
export function commandOf(order: Order, { fee, nonce }: Chosen, delegate: string, origin: string): string {
  const options = [
    ...(fee === undefined ? [] : [`--fee ${plainAmount(fee)}`]),
    ...(nonce === undefined ? [] : [`--nonce ${nonce}`]),
    `--url ${origin}`,
  ];
  return ["uniknode tx", ...argumentsOf(order, delegate), ...options].join(" ");
}

function argumentsOf(order: Order, delegate: string): readonly string[] {
  switch (order.kind) {
    case "transfer":
      return [
        "transfer",
        order.recipientId,
        plainAmount(order.amount),
        ...(order.vendorField === "" ? [] : [`--vendor-field ${quoted(order.vendorField)}`]),
      ];
    case "vote":
      return order.vote.startsWith("-")
        ? ["unvote"]
        : ["vote", /^\w+$/.test(delegate) ? delegate : quoted(delegate)];
    case "mint": {
      const { type, ...properties } = order.properties;
      return ["mint", order.tokenId, UNIK_TYPES[type] ?? type, ...propertiesOf(properties)];
    }
    case "transfer-unik":
      return [order.kind, order.tokenId, order.recipientId];
    case "update":
      return ["update", order.tokenId, ...propertiesOf(order.properties)];
    case "disclose":
      return ["disclose", order.tokenId, ...order.explicitValues.map(quoted), `--factory ${order.factory}`];
  }
}

const UNIK_TYPES: Readonly<Record<string, string>> = { 1: "individual", 2: "organization", 3: "network" };

const propertiesOf = (properties: Readonly<Record<string, string | null>>): readonly string[] =>
  Object.entries(properties).map(([name, value]) =>
    value === null ? `--remove ${quoted(name)}` : `--property ${quoted(`${name}=${value}`)}`,
  );

export function programOf(order: Order, { fee, nonce }: Chosen, origin: string): string {
  const [builder, members] = builderOf(order);
  const lines = [
    "network",
    "senderPublicKey",
    nonce === undefined ? "nonce: BigInt(sender.nonce) + 1n" : `nonce: ${nonce}n`,
    ...(fee === undefined ? [] : [`fee: ${fee}n`]),
    ...members,
  ];
  return `import { createClient } from "@uniknode/client";
import {
  builders, bytesToHex, createNetwork, keysFromPassphrase, networkFilesFromJson, signTransaction, transactionToJson,
} from "@uniknode/protocol";

const client = createClient({ url: ${JSON.stringify(origin)} });
const network = createNetwork(networkFilesFromJson((await client.node.cryptoConfiguration()).data));
const keys = keysFromPassphrase(process.env.PASSPHRASE);
const senderPublicKey = bytesToHex(keys.publicKey);
const { data: sender } = await client.wallets.get(senderPublicKey);

const transaction = builders.${builder}({
${lines.map((line) => `  ${line},`).join("\n")}
});
const signed = transactionToJson(signTransaction(transaction, keys));
const { data, errors } = await client.transactions.submit([signed]);
`;
}

function builderOf(order: Order): readonly [builder: string, members: readonly string[]] {
  switch (order.kind) {
    case "transfer":
      return [
        "transfer",
        [
          `recipientId: ${JSON.stringify(order.recipientId)}`,
          `amount: ${order.amount}n`,
          ...(order.vendorField === "" ? [] : [`vendorField: ${JSON.stringify(order.vendorField)}`]),
        ],
      ];
    case "vote":
      return ["unsVote", [`vote: ${JSON.stringify(order.vote)}`]];
    case "transfer-unik":
      return [
        "nftTransfer",
        [`tokenId: ${JSON.stringify(order.tokenId)}`, `recipientId: ${JSON.stringify(order.recipientId)}`],
      ];
    case "disclose":
      return [
        "certifiedDisclosure",
        [
          `tokenId: ${JSON.stringify(order.tokenId)}`,
          `explicitValues: ${JSON.stringify(order.explicitValues)}`,
          `kind: ${order.type}`,
          "issuedAt: Math.floor(Date.now() / 1_000)",
          "keys",
          `factory: { tokenId: ${JSON.stringify(order.factory)}, keys: keysFromPassphrase(process.env.FACTORY_PASSPHRASE) }`,
        ],
      ];
    case "mint":
    case "update":
      return [
        order.kind === "mint" ? "nftMint" : "nftUpdate",
        [`tokenId: ${JSON.stringify(order.tokenId)}`, `properties: ${JSON.stringify(order.properties)}`],
      ];
  }
}
