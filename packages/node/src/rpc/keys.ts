/** Keys that the service makes and keeps for users: BIP38 texts, which are worth nothing without the password. */
import { createHash, randomBytes } from "node:crypto";
import {
  decryptBip38,
  encryptBip38,
  IdentityError,
  type KeyPair,
  keysFromPrivateKey,
} from "@uniknode/protocol";
import { ofStatus } from "./error.ts";
import type { RpcStore } from "./store.ts";

/** A user, and the password; the user is a part of it. */
export type Keeper = { readonly bip38: string; readonly userId: string };

/**
 * The keys of a user.
 *
 * @throws {RpcError} 404 when there are none; 422 for a wrong password
 */
export async function findKeys(keeper: Keeper, store: RpcStore): Promise<KeyPair> {
  const text = store.findKey(digestOf(keeper));
  if (text === undefined) throw ofStatus(404);
  try {
    const { privateKey } = await decryptBip38(text, passwordOf(keeper));
    return keysFromPrivateKey(privateKey);
  } catch (error) {
    if (error instanceof IdentityError && error.code === "WRONG_PASSWORD") {
      throw ofStatus(422, "bip38: not the password of this user");
    }
    throw error;
  }
}

/** Makes keys for a user who has none. Those who have keep theirs: what was paid to them would be lost. */
export async function createKeys(keeper: Keeper, store: RpcStore): Promise<void> {
  const user = digestOf(keeper);
  if (store.findKey(user) !== undefined) return;
  store.saveKey(user, await encryptBip38(randomBytes(32), passwordOf(keeper)));
}

const passwordOf = ({ bip38, userId }: Keeper): string => bip38 + userId.toLowerCase();

const digestOf = ({ userId }: Keeper): string =>
  createHash("sha256").update(userId.toLowerCase()).digest("hex");
