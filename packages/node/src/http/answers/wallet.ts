/** Wallets in answers (http-api.md 4.5). */
import type { StoredWallet } from "../../store/queries/wallets.ts";
import { integer } from "./integer.ts";

/** Base encoding: amounts are text, and what a wallet has not is absent. */
export function walletAnswer({ address, publicKey, nonce, balance, attributes }: StoredWallet) {
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
export function missionWalletAnswer(wallet: StoredWallet) {
  const { publicKey, attributes } = wallet;
  return {
    ...walletAnswer(wallet),
    publicKey: publicKey ?? "",
    username: attributes.delegate?.username ?? "",
    secondPublicKey: attributes.secondPublicKey ?? null,
    balance: integer(wallet.balance),
  };
}
