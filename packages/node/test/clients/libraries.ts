/** Published libraries that existing clients use. They support neither modules nor types. */
import { createRequire } from "node:module";

// Its curves would need a compiler; this is their other half.
process.env.NODE_BACKEND = "js";
const load = createRequire(import.meta.url);

type Query = Readonly<Record<string, unknown>>;
export type Page = {
  meta: { totalCount: number; next: string | null };
  data: Record<string, unknown>[];
};
export type ApiResponse<B = { data: Record<string, never> }> = { status: number; body: B };

/** Every function of a resource returns a body with its status. */
type Resource = Record<string, (...given: never[]) => Promise<ApiResponse<never>>>;
type Connection = {
  api(name: string): Resource;
  withOptions(options: Query): Connection;
};

export type Built = { id: string } & Record<string, unknown>;
/** Methods of the builders that the tests call, each of which returns its builder. */
type BuilderMethod =
  | "addPayment"
  | "amount"
  | "fee"
  | "htlcClaimAsset"
  | "htlcLockAsset"
  | "htlcRefundAsset"
  | "ipfsAsset"
  | "multiSign"
  | "multiSignatureAsset"
  | "nonce"
  | "recipientId"
  | "secondSign"
  | "senderPublicKey"
  | "sign"
  | "signatureAsset"
  | "usernameAsset"
  | "vendorField"
  | "version"
  | "votesAsset";
export type Builder = Record<BuilderMethod, (...given: unknown[]) => Builder> & { getStruct(): Built };
export type BuilderName =
  | "delegateRegistration"
  | "delegateResignation"
  | "htlcClaim"
  | "htlcLock"
  | "htlcRefund"
  | "ipfs"
  | "multiPayment"
  | "multiSignature"
  | "secondSignature"
  | "transfer"
  | "vote";

type Crypto = {
  Managers: { configManager: { setConfig(config: unknown): void; setHeight(height: number): void } };
  Transactions: { BuilderFactory: Record<BuilderName, () => Builder> };
  Identities: {
    PublicKey: { fromMultiSignatureAsset(asset: unknown): string };
    Address: { fromMultiSignatureAsset(asset: unknown): string; fromPassphrase(words: string): string };
  };
  Crypto: { HashAlgorithms: { sha256(bytes: Uint8Array): Buffer } };
};

export const { Connection } = load("@arkecosystem/client") as { Connection: new (url: string) => Connection };
export const crypto = load("@arkecosystem/crypto") as Crypto;

/** Calls a function of a resource as a JavaScript client does. */
export const call = <B>(connection: Connection, resource: string, name: string, ...given: unknown[]) =>
  (connection.api(resource)[name] as unknown as (...given: unknown[]) => Promise<ApiResponse<B>>).call(
    connection.api(resource),
    ...given,
  );
