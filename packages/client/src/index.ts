/** Client library of a node: a verifier for receivers of its webhooks, and a client of its API. */

export { type Client, type ClientOptions, createClient } from "./api/client.ts";
export { ApiError, type ApiErrorCode, type ApiErrorType } from "./api/error.ts";
export { EVERY_EVENT, isEveryEvent } from "./api/every-event.ts";
export { findDelegate } from "./api/find-delegate.ts";
export { jsonText } from "./api/json.ts";
export type { CursorList, CursorMeta, CursorOptions, List, Page, PageMeta, PageOptions } from "./api/list.ts";
export type {
  BlockOrder,
  DelegateOrder,
  DelegateSearchFilter as DelegateSearch,
  EntityFilter,
  EntityOrder,
  LockOrder,
  LockSearchFilter as LockSearch,
  TransactionOrder,
  WalletOrder,
  WalletSearchFilter as WalletSearch,
} from "./api/list-filters.ts";
export type { Activity, Blockchain, Identified } from "./api/resources/blockchain.ts";
export type { Block, BlockQuery, BlockSearch, RawBlock } from "./api/resources/blocks.ts";
export type { Delegate, DelegateQuery } from "./api/resources/delegates.ts";
export type {
  DevAccount,
  DevAccounts,
  DevBlock,
  DevChange,
  FailingReceiver,
  ReceiverFailure,
  Reorganisation,
} from "./api/resources/dev.ts";
export type { Entity } from "./api/resources/entities.ts";
export type { StreamedEvent, StreamOptions } from "./api/resources/events.ts";
export type { FactLeaf, FactProof, FactsCheckpoint, FactsConsistency } from "./api/resources/facts.ts";
export type { Lock, LockQuery } from "./api/resources/locks.ts";
export type {
  AssumedBlock,
  CryptoConfiguration,
  FeeStatistics,
  FeesByType,
  Milestone,
  NodeConfiguration,
  NodeStatus,
  NodeSyncing,
  SyncProgress,
} from "./api/resources/node.ts";
export type { NodeOption, NodeOverview, NodeSeries } from "./api/resources/operations.ts";
export type { Peer, PeerQuery } from "./api/resources/peers.ts";
export type { Proof, ProofQuery, ProofRound } from "./api/resources/proofs.ts";
export type { RoundDelegate } from "./api/resources/rounds.ts";
export type {
  RawTransaction,
  SingleTransaction,
  Submission,
  Transaction,
  TransactionQuery,
  TransactionSearch,
} from "./api/resources/transactions.ts";
export type {
  Nft,
  Property,
  TokenSearch,
  TokenStatus,
  Unik,
  WithTransactions,
} from "./api/resources/uniks.ts";
export type {
  Balance,
  SingleWallet,
  Wallet,
  WalletAttributes,
  WalletQuery,
} from "./api/resources/wallets.ts";
export type {
  DeliveryAttempt,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryState,
  DeliverySummary,
  Retried,
  RetryFilter,
  RetrySelection,
  TriedTarget,
} from "./api/resources/webhooks/deliveries.ts";
export type {
  Condition,
  NewWebhook,
  Warnings,
  Webhook,
  WebhookChanges,
  WebhookHealth,
  WebhookId,
  WebhookOrder,
  WebhookQuery,
  WebhookState,
  WebhookWithToken,
} from "./api/resources/webhooks/register.ts";
export type { DryRun, Replay, TriedEvent, TriedEvents } from "./api/resources/webhooks/replays.ts";
export type {
  Amount,
  ApiResponse,
  AtQuery,
  Integer,
  Interval,
  OrderBy,
  Timestamp,
  WholeAmount,
  WithChainmeta,
} from "./api/responses.ts";
export {
  type BlockContent,
  type ConfirmedTransactionContent,
  type EventContents,
  type EventMessage,
  isEvent,
  type PeerContent,
  type ReceivedBlockContent,
  type RejectionContent,
  type RoundDelegateContent,
  type UnikContent,
  type VoteContent,
} from "./deliveries/contents.ts";
export type { Delivery } from "./deliveries/delivery.ts";
export { createEpochFence, type EpochFence } from "./deliveries/epoch.ts";
export { DeliveryError, type DeliveryErrorCode, type DeliveryErrorType } from "./deliveries/error.ts";
export type { DeliveryHeaders } from "./deliveries/headers.ts";
export {
  type ReceivedDelivery,
  type VerifiedDelivery,
  type VerifyOptions,
  verifyDelivery,
} from "./deliveries/verify.ts";
