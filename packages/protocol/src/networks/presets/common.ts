/** Parts of several presets. Amounts are in the smallest unit, 10^-8 of a token. */
import type { ByKind, MilestoneChange, NetworkDescription, VoucherReward } from "../network.ts";

/** Static fees at height 1, the same on every network. */
export const firstStaticFees = {
  transfer: 10_000_000,
  secondSignature: 500_000_000,
  delegateRegistration: 2_500_000_000,
  vote: 100_000_000,
  multiSignature: 500_000_000,
  ipfs: 500_000_000,
  multiPayment: 10_000_000,
  delegateResignation: 2_500_000_000,
  htlcLock: 10_000_000,
  htlcClaim: 0,
  htlcRefund: 0,
};

export const noReward: VoucherReward = { forger: 0, sender: 0, foundation: 0 };

/** Voucher table A of state.md 1.1: the initial rewards. */
export const initialVoucherRewards: ByKind<VoucherReward> = {
  individual: { forger: 100_000_000, sender: 1_000_000_000, foundation: 8_900_000_000 },
  organization: { forger: 100_000_000, sender: 10_000_000_000, foundation: 989_900_000_000 },
  network: { forger: 100_000_000, sender: 100_000_000_000, foundation: 99_899_900_000_000 },
};

/** Voucher table B of state.md 1.1: ten times the forger's share, paid by the foundation. */
export const raisedForgerRewards: ByKind<VoucherReward> = {
  individual: { forger: 1_000_000_000, sender: 1_000_000_000, foundation: 8_000_000_000 },
  organization: { forger: 1_000_000_000, sender: 10_000_000_000, foundation: 989_000_000_000 },
  network: { forger: 1_000_000_000, sender: 100_000_000_000, foundation: 99_899_000_000_000 },
};

/** Parameters of livenet, sandbox and dalinet at height 1. */
export const firstUnsMilestone = (
  epoch: string,
  activeDelegates: number,
  minimumVersion: string,
): MilestoneChange => ({
  height: 1,
  reward: 200_000_000,
  activeDelegates,
  blocktime: 8,
  block: {
    version: 0,
    maxTransactions: 500,
    maxPayload: 21_000_000,
    acceptExpiredTransactionTimestamps: false,
    idFullSha256: false,
  },
  epoch,
  fees: { staticFees: firstStaticFees },
  ignoreInvalidSecondSignatureField: false,
  vendorFieldLength: 255,
  ignoreExpiredTransactions: false,
  multiPaymentLimit: 128,
  p2p: minimumVersions(minimumVersion),
  voucherRewards: initialVoucherRewards,
});

/** Versions compatible with the lowest one, and their development releases. */
export const minimumVersions = (...lowest: string[]): { minimumVersions: string[] } => ({
  minimumVersions: [lowest.flatMap((version) => [`^${version}`, `^${version}-dev`]).join(" || ")],
});

/** Transaction types switched off on livenet and sandbox; bridgechain and business keys have no effect (trap A13). */
export const disabledTransactions: NonNullable<NetworkDescription["transactionsConfig"]> = Object.fromEntries(
  [
    "delegateRegistration",
    "delegateResignation",
    "NftUpdate",
    "NftTransfer",
    "multiSignature",
    "ipfs",
    "htlcLock",
    "htlcClaim",
    "htlcRefund",
    "bridgechainRegistration",
    "bridgechainResignation",
    "bridgechainUpdate",
    "businessRegistration",
    "businessResignation",
    "businessUpdate",
    "UnsCertifiedNftTransfer",
  ].map((key) => [key, { enable: false }]),
);
