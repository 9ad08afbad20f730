/** The development network: plain NFT mints stay possible, `certifiedNFTsOnly` is never enabled. */
import type { NetworkFiles } from "../network.ts";
import { firstUnsMilestone, initialVoucherRewards, minimumVersions, raisedForgerRewards } from "./common.ts";

export const dalinet: NetworkFiles = {
  network: {
    name: "dalinet",
    messagePrefix: "DALI message:\n",
    bip32: { public: 46090600, private: 46089520 },
    pubKeyHash: 30,
    nethash: "6abbd2129d685b125f940c853d9b7d1f83cbf62444f4e7a497424ed9cfbda7c8",
    wif: 218,
    slip44: 1,
    aip20: 1,
    client: { token: "dunik", symbol: "DUNIK", explorer: "https://dalinet.explorer.unikname.network" },
    transactionsConfig: {
      delegateRegistration: { enable: false },
      delegateResignation: { enable: false },
      NftUpdate: { enable: true },
      UnsCertifiedNftTransfer: { enable: true },
    },
    forgeFactory: {
      unikidWhiteList: ["5f96dd359ab300e2c702a54760f4d74a11db076aa17575179d36e06d75c96511"],
    },
    foundation: { publicKey: "0234886b5546a65beb0341b0f40f321fdc898a3e2a0831ef7578c208aa8870624f" },
    delegateWhitelistUniks: [
      "43e68d742436fdf1e1f542818276b6c5f40c5e668481ea4255b19d15190688d3",
      "470143f9be3061dba418664dc4a2e930f6536aa34fc06518dbaa4ae714168a9c",
      "d150f2f61e59e84a7fd39c92075ec326b53cb5024fd7fa7ed921bcbde5343e46",
      "0766a09720ce88a88803a59e9e02d394232534dbed06961812c355c63befdc33",
    ],
  },
  milestones: [
    firstUnsMilestone("2019-09-19T11:42:10.474Z", 3, "5.2.0"),
    { height: 2, block: { idFullSha256: true }, aip11: true },
    {
      height: 3600,
      disableArkLegacyVote: true,
      urlCheckers: ["88f19a6b1d0d2ca16d385f7f76ba343234fd87498a723439a3b6cf79b38431bc"],
    },
    { height: 60000, nbDelegatesByType: { individual: 1, organization: 1, network: 1 } },
    {
      height: 1194000,
      voucherRewards: raisedForgerRewards,
      fees: { staticFees: { UnsCertifiedNftMint: 1_000_000_000 } },
    },
    {
      height: 1295395,
      voucherRewards: initialVoucherRewards,
      fees: { staticFees: { UnsCertifiedNftMint: 100_000_000 } },
    },
    {
      height: 1388487,
      unsTokenEcoV2: true,
      fees: { staticFees: { UnsCertifiedNftUpdate: 100_000_000 } },
    },
    {
      height: 1529215,
      p2p: minimumVersions("5.5.1"),
      voterMaximumWeight: { individual: 1_000_000_000_000 },
    },
    {
      height: 1667920,
      activeDelegates: 6,
      nbDelegatesByType: { individual: 3, organization: 2, network: 1 },
    },
    { height: 3006813, voterMaximumWeight: false },
    {
      height: 4010018,
      reward: 100_000_000,
      unsTokenEcoV3: true,
      voucherRewards: {
        individual: { forger: 100_000_000, sender: 1_000_000_000, foundation: 0 },
        organization: { forger: 100_000_000, sender: 10_000_000_000, foundation: 0 },
        network: { forger: 100_000_000, sender: 100_000_000_000, foundation: 0 },
      },
    },
  ],
  exceptions: { blocks: [], transactions: [] },
};
