/** Wallets in responses (http-api.md 4.5). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { StoredWallet } from "../../read/rows.ts";
import { type JsonText, written } from "./text.ts";
import { address, amount, count, countText, publicKey, username, wholeAmount } from "./values.ts";

const members = {
  address,
  publicKey: Type.Optional(publicKey),
  username: Type.Optional(username),
  secondPublicKey: Type.Optional(publicKey),
  nonce: countText,
  balance: amount,
  lockedBalance: Type.Optional(amount),
  attributes: Type.Object(
    {},
    {
      description:
        "Further state of the wallet: `delegate`, `vote`, `tokens`, `htlc`, `multiSignature`, `secondPublicKey`, `ipfs`, `entities`, `business`.",
    },
  ),
  isDelegate: Type.Boolean(),
  isResigned: Type.Boolean(),
  vote: Type.Optional(publicKey),
  multiSignature: Type.Optional(
    Type.Object({ publicKeys: Type.Unsafe<readonly string[]>(Type.Array(publicKey)), min: count }),
  ),
};
export const Wallet = Type.Object(members, { title: "Wallet" });

export const SingleWallet = Type.Object(
  {
    ...members,
    publicKey: Type.String({ description: "Empty if the public key is unknown." }),
    username: Type.String({ description: "Empty if the wallet is not a delegate." }),
    secondPublicKey: Type.Union([publicKey, Type.Null()]),
    balance: wholeAmount,
  },
  {
    title: "SingleWallet",
    description: "The balance is an integer, and more members are always present.",
  },
);

/** Base encoding: amounts are text, and missing attributes are omitted. */
export const walletResponse = (wallet: StoredWallet): JsonText<Static<typeof Wallet>> => {
  const { publicKey } = wallet;
  const { delegate, secondPublicKey } = wallet.attributes;
  return written(
    textOf(wallet, {
      publicKey: publicKey === undefined ? "" : `,"publicKey":"${publicKey}"`,
      username: delegate ? `,"username":${JSON.stringify(delegate.username)}` : "",
      secondPublicKey: secondPublicKey === undefined ? "" : `,"secondPublicKey":"${secondPublicKey}"`,
      balance: `"${wallet.balance}"`,
    }),
  );
};

/** The encoding of `GET /wallets/{id}` (disagreements D-01 and D-02). */
export const singleWalletResponse = (wallet: StoredWallet): JsonText<Static<typeof SingleWallet>> => {
  const { delegate, secondPublicKey } = wallet.attributes;
  return written(
    textOf(wallet, {
      publicKey: `,"publicKey":"${wallet.publicKey ?? ""}"`,
      username: `,"username":${JSON.stringify(delegate?.username ?? "")}`,
      secondPublicKey: `,"secondPublicKey":${JSON.stringify(secondPublicKey ?? null)}`,
      balance: wallet.balance,
    }),
  );
};

/** Members that the encodings write differently; each text except the balance includes its name. */
type Encoded = Record<"publicKey" | "username" | "secondPublicKey" | "balance", string>;

function textOf(
  { address, nonce, attributes, attributesText }: StoredWallet,
  { publicKey, username, secondPublicKey, balance }: Encoded,
): string {
  const { delegate, htlc, multiSignature, vote } = attributes;
  const locked = htlc ? `,"lockedBalance":"${htlc.lockedBalance}"` : "";
  const voted = vote === undefined ? "" : `,"vote":"${vote}"`;
  const signers = multiSignature ? `,"multiSignature":${JSON.stringify(multiSignature)}` : "";
  return `{"address":"${address}"${publicKey}${username}${secondPublicKey},"nonce":"${nonce}","balance":${balance}${locked},"attributes":${attributesText},"isDelegate":${delegate !== undefined},"isResigned":${delegate?.resigned === true}${voted}${signers}}`;
}
