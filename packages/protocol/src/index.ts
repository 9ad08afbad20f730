export * from "./blocks/block.ts";
export * from "./blocks/check.ts";
export * from "./blocks/codec.ts";
export * from "./blocks/error.ts";
export * from "./blocks/exception.ts";
export * from "./blocks/forge.ts";
export * from "./blocks/from-bytes.ts";
export * from "./blocks/from-json.ts";
export * from "./blocks/genesis.ts";
export * from "./blocks/header.ts";
export * from "./blocks/id.ts";
export * from "./blocks/jobs.ts";
export * from "./blocks/payload.ts";
export { headerViolation } from "./blocks/schema.ts";
export * from "./blocks/signature.ts";
export * from "./blocks/to-json.ts";
export * as builders from "./builders/index.ts";
export * from "./bytes/reader.ts";
export * from "./bytes/writer.ts";
export * from "./crypto/backend.ts";
export * from "./crypto/base58check.ts";
export * from "./crypto/bytes.ts";
export * from "./crypto/der.ts";
export * from "./crypto/ecdsa.ts";
export * from "./crypto/hashes.ts";
export * from "./crypto/points.ts";
export * from "./crypto/schnorr.ts";
export { disagreementOf } from "./crypto/self-test.ts";
export * from "./identities/address.ts";
export * from "./identities/bip38.ts";
export * from "./identities/error.ts";
export * from "./identities/hd.ts";
export * from "./identities/keys.ts";
export * from "./identities/message.ts";
export * from "./identities/multisignature.ts";
export * from "./identities/wif.ts";
export * from "./networks/create.ts";
export * from "./networks/error.ts";
export * from "./networks/files.ts";
export * from "./networks/network.ts";
export * from "./networks/presets.ts";
export * from "./networks/slots.ts";
export * from "./transactions/activation.ts";
export * from "./transactions/context.ts";
export * from "./transactions/decode.ts";
export * from "./transactions/encode.ts";
export * from "./transactions/errors.ts";
export * from "./transactions/fees.ts";
export * from "./transactions/id.ts";
export * from "./transactions/json.ts";
export { bigintFromJson } from "./transactions/keywords.ts";
export * from "./transactions/parse.ts";
export { matchesBatchSchema } from "./transactions/schema.ts";
export * from "./transactions/sign.ts";
export type { SignaturePart } from "./transactions/signatures.ts";
export * from "./transactions/transaction.ts";
export * from "./transactions/types/registry.ts";
export type { TransactionType } from "./transactions/types/type.ts";
export * from "./transactions/verify.ts";
export { certificationBytes, certify, verifyCertification } from "./uns/certification.ts";
export { certificationSubject, demandBytes, signDemand, verifyDemand } from "./uns/demand.ts";
export {
  certifyDisclosure,
  discloseCertificationBytes,
  discloseDemandBytes,
  discloseSubject,
  signDiscloseDemand,
  verifyDiscloseCertification,
  verifyDiscloseDemand,
} from "./uns/disclosure.ts";
