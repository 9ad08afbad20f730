/** Wallets in responses (http-api.md 4.5), lists of them, and the wallet of a path. */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { WalletFilter } from "../../read/filters.ts";
import { WALLETS } from "../../read/lists.ts";
import type { PastState, Snapshot } from "../../read/port.ts";
import type { StoredWallet } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { notFound } from "../core/error.ts";
import { JsonText } from "../core/text.ts";
import { address, amount, count, countText, publicKey, username, wholeAmount } from "../core/values.ts";
import { type ListRequest, listResponse, pageOf } from "../requests/pagination.ts";
import { orderOf } from "../requests/parameters.ts";

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
  return new JsonText(
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
  return new JsonText(
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

export async function walletList(
  { wallets }: Snapshot,
  request: ListRequest,
  filter: WalletFilter,
  orderBy?: string,
) {
  const page = pageOf(request.query);
  const order = orderOf(orderBy, WALLETS);
  const { rows, ...found } = await wallets.list(withAddresses(withoutZeros(filter)), order, page);
  return listResponse(request, page, { rows: rows.map(walletResponse), ...found });
}

/** Wallet kits send the addresses of several wallets in one parameter. */
const withAddresses = ({ address, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(address?.includes(",") ? { addresses: address.split(",") } : address !== undefined && { address }),
});

/** Removes zeros: as in the old network, 0 means any value in these two filters. */
const withoutZeros = ({ voteBalance, producedBlocks, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(voteBalance !== undefined && Number(voteBalance) !== 0 && { voteBalance }),
  ...(producedBlocks !== undefined && Number(producedBlocks) !== 0 && { producedBlocks }),
});

const PUBLIC_KEY = /^0[23][0-9a-f]{64}$/;

/** Returns the address of a public key, because the chain knows a cold wallet only by its address; other ids unchanged. */
export const toWalletId = ({ addressOf }: Pick<Api, "addressOf">, id: string): string =>
  PUBLIC_KEY.test(id) ? addressOf(id) : id;

/**
 * Finds the address of the wallet of a path segment: an address, public key or username.
 *
 * @throws {HttpError} 404
 */
export async function findAddress(
  api: Pick<Api, "addressOf">,
  { wallets }: Pick<Snapshot, "wallets">,
  id: string,
): Promise<string> {
  const address = await wallets.address(toWalletId(api, id));
  if (address === undefined) throw notFound("WALLET_UNKNOWN", "Wallet");
  return address;
}

/**
 * Finds the wallet of a path segment: an address, public key or username.
 *
 * @throws {HttpError} 404
 */
export async function findWallet(
  api: Pick<Api, "addressOf">,
  { wallets }: Pick<PastState, "wallets">,
  id: string,
): Promise<StoredWallet> {
  const wallet = await wallets.find(toWalletId(api, id));
  if (!wallet) throw notFound("WALLET_UNKNOWN", "Wallet");
  return wallet;
}
