/** Wallets in answers (http-api.md 4.5). */
import { type Static, Type } from "typebox";
import type { StoredWallet } from "../../store/queries/wallets.ts";
import { integer } from "./integer.ts";
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
        "What the wallet is besides: `delegate`, `vote`, `tokens`, `htlc`, `multiSignature`, `secondPublicKey`, `ipfs`, `entities`, `business`.",
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
    publicKey: Type.String({ description: "Empty for a wallet whose key is not known." }),
    username: Type.String({ description: "Empty for a wallet that is no delegate." }),
    secondPublicKey: Type.Union([publicKey, Type.Null()]),
    balance: wholeAmount,
  },
  {
    title: "SingleWallet",
    description: "The balance is an integer here, and more members are always there.",
  },
);

/** Base encoding: amounts are text, and what a wallet has not is absent. */
export function walletAnswer({
  address,
  publicKey,
  nonce,
  balance,
  attributes,
}: StoredWallet): Static<typeof Wallet> {
  const { delegate, htlc, multiSignature, secondPublicKey, vote } = attributes;
  return {
    address,
    ...(publicKey !== undefined && { publicKey }),
    ...(delegate && { username: delegate.username }),
    ...(secondPublicKey !== undefined && { secondPublicKey }),
    nonce,
    balance,
    ...(htlc && { lockedBalance: htlc.lockedBalance }),
    attributes,
    isDelegate: delegate !== undefined,
    isResigned: delegate?.resigned === true,
    ...(vote !== undefined && { vote }),
    ...(multiSignature && { multiSignature }),
  };
}

/** The encoding of `GET /wallets/{id}` (disagreements D-01 and D-02). */
export function missionWalletAnswer(wallet: StoredWallet): Static<typeof SingleWallet> {
  const { publicKey, attributes } = wallet;
  return {
    ...walletAnswer(wallet),
    publicKey: publicKey ?? "",
    username: attributes.delegate?.username ?? "",
    secondPublicKey: attributes.secondPublicKey ?? null,
    balance: integer(wallet.balance),
  };
}
