export {
  type AppliedBlock,
  applyBlock,
  applyToSender,
  applyTransaction,
  type BlockContext,
  recordUses,
} from "./blocks/apply.ts";
export { transactionFacts } from "./blocks/block-facts.ts";
export { applyGenesis } from "./blocks/genesis.ts";
export type { JudgeContext } from "./blocks/judge.ts";
export {
  isChained,
  judgeBlock,
  type Reason,
  type Rejection,
  type Verdict,
} from "./blocks/judge.ts";
export { createRepetitions, type Repetitions } from "./blocks/repetitions.ts";
export type { Fact } from "./facts.ts";
export { approval } from "./rounds/approval.ts";
export { type DelegateWallet, rankDelegates } from "./rounds/ranking.ts";
export { isFromDelegateOfSlot, type MissedSlot, missedSlots, openRound, roundOf } from "./rounds/round.ts";
export { findRule } from "./rules/registry.ts";
export { hopelessReason, unsupportedMultiSignatures } from "./rules/shared/common.ts";
export {
  CERTIFIED_MINT,
  CERTIFIED_UPDATE,
  declaresAlive,
  INDIVIDUAL,
  isAliveDemand,
  isCertifiedMint,
  isCertifiedUpdate,
  mintedTokenId,
  nftOf,
  payloadJobs,
  type Reward,
  rewardOfType,
  voucherOf,
} from "./rules/shared/economy.ts";
export { RuleError } from "./rules/shared/error.ts";
export { typeFromText } from "./rules/shared/kinds.ts";
export type { Rule, RuleContext } from "./rules/shared/rule.ts";
export { type TokenEffect, type TokenEffectContext, tokenEffect } from "./rules/shared/token-effects.ts";
export { COMPUTED_SIGNATURES, isVerifiedIn, type WalletSignatures } from "./signatures.ts";
export { createDraft, type Draft, propertiesOver, type WrittenRecords, walletsOver } from "./state/draft.ts";
export {
  collapseAttributes,
  countHoldings,
  expandAttributes,
  findHolding,
  type HoldingRow,
  hasCollections,
  holdingKey,
  type LinkedHolding,
  parseHoldingKey,
  type ShownAttributes,
  shownText,
} from "./state/holdings.ts";
export { createMemoryState, type MemoryState } from "./state/memory.ts";
export {
  type Attributes,
  type Bridgechain,
  type Change,
  type Collection,
  type Delegate,
  type Entity,
  entityKey,
  type Holding,
  type HoldingKind,
  type Lock,
  propertyKey,
  type Round,
  type StateReader,
  TABLE_NAMES,
  type TableName,
  type Tables,
  type Token,
  voucherKey,
  type Wallet,
} from "./state/tables.ts";
export { moveVotes } from "./votes.ts";
export { addressOf, walletOf } from "./wallets.ts";
