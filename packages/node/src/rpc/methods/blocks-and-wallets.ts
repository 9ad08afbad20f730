/**
 * `blocks.*` and `wallets.*`: blocks and wallets of the chain as the API shows them, addresses of passphrases, and keys that the
 * service stores encrypted with a password.
 */
import {
  addressFromPublicKey,
  bytesToHex,
  encodeWif,
  type KeyPair,
  keysFromPassphrase,
} from "@uniknode/protocol";
import { Type } from "../../platform/json/schema.ts";
import { type Method, method, type RpcContext } from "../define-method.ts";
import { createKeys, findKeys } from "../keys.ts";
import { ofStatus } from "../rpc-error.ts";

const id = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-fA-F]{64})$" });
const offset = Type.Optional(Type.Integer({ minimum: 0 }));

export const blockMethods: Readonly<Record<string, Method>> = {
  "blocks.info": method(Type.Object({ id }), async (params, { client }) => {
    return (await client.blocks.get(params.id)).data;
  }),

  "blocks.latest": method(Type.Object({}), async (_params, { client }) => (await client.blocks.last()).data),

  "blocks.transactions": method(Type.Object({ id, offset }), async ({ id, offset = 0 }, { client }) => {
    const list = client.blocks.transactions(id, { orderBy: "timestamp:desc" });
    const { meta, data } = await list.page({ offset });
    return { count: meta.totalCount, data };
  }),
};

const address = Type.String({ pattern: "^[0-9A-Za-z]{34}$" });
/**
 * `bip38` is the password; `userId` is hexadecimal: a name under which keys are stored, and a part of their
 * password.
 */
export const keeper = {
  bip38: Type.String({ minLength: 1, maxLength: 1_024 }),
  userId: Type.String({ pattern: "^([0-9a-fA-F]{2})+$", maxLength: 512 }),
};

export const walletMethods: Readonly<Record<string, Method>> = {
  "wallets.create": method(
    Type.Object({ passphrase: Type.String({ minLength: 1 }) }),
    async ({ passphrase }, context) => identityOf(keysFromPassphrase(passphrase).publicKey, context),
  ),

  "wallets.info": method(Type.Object({ address }), async ({ address }, { client }) => {
    return (await client.wallets.get(address)).data;
  }),

  "wallets.transactions": method(
    Type.Object({ address, offset }),
    async ({ address, offset = 0 }, { client }) => {
      const list = client.wallets.transactions(address, { orderBy: "timestamp:desc" });
      const { meta, data } = await list.page({ offset });
      if (meta.totalCount === 0) throw ofStatus(404);
      return { count: meta.totalCount, data };
    },
  ),

  "wallets.bip38.create": method(Type.Object(keeper), async (params, context) =>
    walletOf(await createKeys(params, context), context),
  ),

  "wallets.bip38.info": method(Type.Object(keeper), async (params, context) =>
    walletOf(await findKeys(params, context), context),
  ),
};

function walletOf({ publicKey, privateKey }: KeyPair, context: RpcContext) {
  const { wif } = context.network.description;
  return { ...identityOf(publicKey, context), wif: encodeWif(privateKey, wif) };
}

function identityOf(publicKey: Uint8Array, { network }: RpcContext) {
  const text = bytesToHex(publicKey);
  return { publicKey: text, address: addressFromPublicKey(text, network.description.pubKeyHash) };
}
