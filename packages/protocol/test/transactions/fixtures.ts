/** Transactions for tests. */
import fc from "fast-check";
import {
  addressFromPublicKey,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  presets,
  signTransaction,
  type Transaction,
  type TransactionBody,
  type TransactionContext,
} from "../../src/index.ts";

export const livenet = createNetwork(presets.livenet);
export const testnet = createNetwork(presets.testnet);

/** Version 2 is in force. */
export const context: TransactionContext = { network: livenet, height: 2 };
/** Version 1 is in force. */
export const contextV1: TransactionContext = { network: livenet, height: 1 };

export const sender = keysFromPassphrase("sender");
export const senderPublicKey = bytesToHex(sender.publicKey);
export const participants = ["first", "second", "third"].map(keysFromPassphrase);
export const participantKeys = participants.map(({ publicKey }) => bytesToHex(publicKey));

export const addressOn = (version: number): string => addressFromPublicKey(senderPublicKey, version);
export const recipientId = addressOn(68);

/** Unsigned transfer on livenet. */
export const transfer = (changes: Partial<TransactionBody> = {}): TransactionBody => ({
  version: 2,
  network: 68,
  typeGroup: 1,
  type: 0,
  nonce: 1n,
  senderPublicKey,
  fee: 10_000_000n,
  amount: 1n,
  expiration: 0,
  recipientId,
  ...changes,
});

export const transferV1 = (changes: Partial<TransactionBody> = {}): TransactionBody => {
  const { nonce: _nonce, ...members } = transfer({ version: 1, timestamp: 100, ...changes });
  return members;
};

export const signed = (changes: Partial<TransactionBody> = {}): Transaction =>
  signTransaction(transfer(changes), sender);

/** Transaction of another type, without the members of a transfer. */
export function bodyOf(type: number, changes: Partial<TransactionBody>): TransactionBody {
  const { recipientId: _recipientId, expiration: _expiration, ...members } = transfer({ type, amount: 0n });
  return { ...members, ...changes };
}

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(bytesToHex);
const u63 = (minimum = 0n) => fc.bigInt(minimum, 2n ** 63n - 1n);
const address = hex(33).map((key) => addressFromPublicKey(key, 68));
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 });
const vendorField = fc.record({ vendorField: text }, { requiredKeys: [] });

const payloads: Record<number, fc.Arbitrary<Partial<TransactionBody>>> = {
  0: fc
    .tuple(vendorField, fc.record({ amount: u63(1n), expiration: u32, recipientId: address }))
    .map(([optional, members]) => ({ ...optional, ...members })),
  1: hex(33).map((publicKey) => ({ asset: { signature: { publicKey } } })),
  2: fc.stringMatching(/^[a-z0-9!@$&_.]{1,20}$/).map((username) => ({ asset: { delegate: { username } } })),
  3: fc.tuple(fc.constantFrom("+", "-"), hex(33)).map(([sign, key]) => ({ asset: { votes: [sign + key] } })),
  4: fc.uniqueArray(hex(33), { minLength: 1, maxLength: 16 }).chain((publicKeys) =>
    fc.integer({ min: 1, max: publicKeys.length }).map((min) => ({
      asset: { multiSignature: { min, publicKeys } },
      signatures: publicKeys.map((_, index) => index.toString(16).padStart(2, "0") + "ab".repeat(64)),
    })),
  ),
  5: fc.constantFrom(
    { asset: { ipfs: "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w" } },
    { asset: { ipfs: "11" } },
  ),
  6: fc
    .tuple(
      vendorField,
      fc.array(fc.record({ amount: u63(1n), recipientId: address }), { minLength: 2, maxLength: 5 }),
    )
    .map(([optional, payments]) => ({ ...optional, asset: { payments } })),
  7: fc.constant({}),
  8: fc
    .tuple(
      vendorField,
      fc.record({ amount: u63(1n), recipientId: address }),
      fc.record({ secretHash: hex(32), expiration: fc.record({ type: fc.constantFrom(1, 2), value: u32 }) }),
    )
    .map(([optional, members, lock]) => ({ ...optional, ...members, asset: { lock } })),
  9: fc
    .record({ lockTransactionId: hex(32), unlockSecret: hex(32) })
    .map((claim) => ({ fee: 0n, asset: { claim } })),
  10: hex(32).map((lockTransactionId) => ({ fee: 0n, asset: { refund: { lockTransactionId } } })),
};

/** Any transaction of group 1 in its decoded form, of version 2, with an invalid Schnorr signature. */
export const coreTransaction: fc.Arbitrary<TransactionBody> = fc
  .tuple(
    fc.oneof(
      ...Object.entries(payloads).map(([type, payload]) =>
        payload.map((members) => ({ type: Number(type), ...members })),
      ),
    ),
    fc.record({ nonce: u63(), fee: u63(1n), senderPublicKey: hex(33), signature: hex(64) }),
  )
  .map(([payload, common]) => bodyOf(payload.type, { ...common, ...payload }));
