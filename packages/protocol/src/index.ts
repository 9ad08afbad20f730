export type { Block, BlockHeader, BlockParts, EncodedBlock } from "./blocks/block.ts";
export {
  type BlockCheckOptions,
  type BlockFault,
  type BlockFaultCode,
  checkBlock,
  containsMultiSignatures,
  fullHeaderSignatureJob,
  headerSignatureJob,
  verifyHeaderJob,
  withVerdicts,
} from "./blocks/check.ts";
export {
  type BlockParseOptions,
  blockByteLength,
  blockFromBytes,
  blockFromBytesGradually,
  blockFromPartsGradually,
  blockFromTrustedBytes,
  bytesOfBlock,
  decodeBlock,
  encodeBlock,
  encodeFrame,
  joinBlock,
  recheckBlock,
} from "./blocks/codec.ts";
export { BlockError, type BlockErrorCode } from "./blocks/error.ts";
export { type BlockDraft, forgeBlock } from "./blocks/forge.ts";
export { blockFromJson, blockFromPeerJson } from "./blocks/from-json.ts";
export { createGenesisBlock, type GenesisDraft, genesisBlockFromJson } from "./blocks/genesis.ts";
export {
  blockIdToHex,
  decodeFullHeader,
  decodeHeader,
  encodeHeader,
  encodeUnsignedHeader,
  fullIdOf,
  type HeaderFields,
  headerFromTrustedBytes,
  partialIdFromHex,
  partialIdOf,
  partialIdToHex,
  payloadHashOf,
} from "./blocks/header.ts";
export { headerViolation } from "./blocks/schema.ts";
export {
  blockToJson,
  blockToPeerJson,
  type HeaderJson,
  headerToJson,
  type PeerBlockJson,
} from "./blocks/to-json.ts";
export * as builders from "./builders/index.ts";
export { canonicalJson } from "./canonical-json.ts";
export { decodeBase58check, encodeBase58check } from "./crypto/base58check.ts";
export { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "./crypto/bytes.ts";
export { isReadableDer } from "./crypto/der.ts";
export { hash160, hash256, ripemd160, sha1, sha256 } from "./crypto/hashes.ts";
export { uncompressPublicKey } from "./crypto/points.ts";
export { disagreementOf, type SelfTestCase, selfTestCases } from "./crypto/self-test.ts";
export type { SignatureJob, SignatureVerdict } from "./crypto/signature-job.ts";
export {
  defaultSignatureBackend,
  type SignatureBackend,
  signEcdsa,
  signSchnorr,
  verifyEcdsa,
  verifySchnorr,
} from "./crypto/signatures.ts";
export { addressFromPublicKey, decodeAddress, isAddress, isPublicKey } from "./identities/address.ts";
export { type DecryptedKey, decryptBip38, encryptBip38, isBip38 } from "./identities/bip38.ts";
export { IdentityError, type IdentityErrorCode } from "./identities/error.ts";
export { type HdNode, hdCoinNode, hdNetworkNode, hdRoot } from "./identities/hd.ts";
export {
  type KeyPair,
  keysFromPassphrase,
  keysFromPrivateKey,
  passphraseMistake,
} from "./identities/keys.ts";
export { type SignedMessage, signMessage, verifyMessage } from "./identities/message.ts";
export { multiSignaturePublicKey, type Participants } from "./identities/multisignature.ts";
export { decodeWif, encodeWif } from "./identities/wif.ts";
export { createNetwork, createSlots, isBlockException, type Slots } from "./networks/create.ts";
export { NetworkError, type NetworkErrorCode } from "./networks/error.ts";
export { networkFilesFromJson, type UntrustedNetworkFiles } from "./networks/files.ts";
export type {
  ByKind,
  Exceptions,
  Milestone,
  MilestoneChange,
  Network,
  NetworkDescription,
  NetworkFiles,
  VoucherReward,
} from "./networks/network.ts";
export { dalinet, livenet, presets, sandbox, testnet, unitnet } from "./networks/presets.ts";
export { present } from "./present.ts";
export { createRounds, quorumOf, type RoundInfo, type Rounds } from "./rounds/arithmetic.ts";
export { delegateOfSlot, forgingOrder } from "./rounds/forging-order.ts";
export { assetMember } from "./transactions/asset.ts";
export type { SignaturePart } from "./transactions/codec.ts";
export { decodeTransaction, type EncodeOptions, encodeTransaction } from "./transactions/codec.ts";
export { type SchemaViolation, TransactionError, type TransactionErrorCode } from "./transactions/errors.ts";
export {
  type DynamicFees,
  isHighFee,
  minimumFee,
  requiredFee,
  staticFee,
  typeStaticFee,
} from "./transactions/fees.ts";
export {
  hashedBytes,
  multiSigningBytes,
  secondSigningBytes,
  signingBytes,
  transactionId,
} from "./transactions/id.ts";
export { transactionToJson } from "./transactions/json.ts";
export { bigintFromJson } from "./transactions/keywords.ts";
export {
  type ParseOptions,
  recheckTransaction,
  sealedFromTrustedBytes,
  transactionFromBytes,
  transactionFromJson,
} from "./transactions/parse.ts";
export { compileSchemas, matchesBatchSchema } from "./transactions/schema.ts";
export {
  multiSignTransaction,
  type SignatureAlgorithm,
  secondSignTransaction,
  signTransaction,
} from "./transactions/sign.ts";
export type {
  Asset,
  BridgechainAsset,
  BusinessAsset,
  Certification,
  Demand,
  DiscloseCertification,
  DiscloseDemand,
  HtlcExpiration,
  NftAsset,
  NftToken,
  SealedTransaction,
  Transaction,
  TransactionBody,
} from "./transactions/transaction.ts";
export { TYPE_GROUPS } from "./transactions/type-groups.ts";
export type { TransactionContext } from "./transactions/types/registry.ts";
export {
  findTransactionType,
  isTypeActive,
  transactionKey,
  transactionTypes,
} from "./transactions/types/registry.ts";
export type { TransactionType } from "./transactions/types/type.ts";
export {
  certificationBytes,
  certificationJob,
  certify,
  verifyCertification,
} from "./transactions/types/uns/proofs/certification.ts";
export {
  certificationSubject,
  demandBytes,
  signDemand,
  verifyDemand,
} from "./transactions/types/uns/proofs/demand.ts";
export {
  certifyDisclosure,
  discloseCertificationBytes,
  discloseCertificationJob,
  discloseDemandBytes,
  discloseDemandJob,
  discloseSubject,
  signDiscloseDemand,
  verifyDiscloseCertification,
  verifyDiscloseDemand,
} from "./transactions/types/uns/proofs/disclosure.ts";
export { verifyPayloadJob } from "./transactions/types/uns/proofs/signature.ts";
export {
  decidedVerdict,
  isVerified,
  multiSignatureJobs,
  secondSignatureJob,
  signatureJob,
  verifyJob,
  verifyMultiSignatures,
  verifySecondSignature,
  verifySignature,
} from "./transactions/verify.ts";
