/** The production network. */
import type { NetworkFiles } from "../network.ts";
import { disabledTransactions, firstUnsMilestone, minimumVersions, noReward } from "./common.ts";

export const livenet: NetworkFiles = {
  network: {
    name: "livenet",
    messagePrefix: "livenet message:\n",
    bip32: { public: 70617039, private: 70615956 },
    pubKeyHash: 68,
    nethash: "f8e625f678c4720968340501a5f2d3c88bc509c638d9ef9964c3da561dd33c44",
    wif: 172,
    slip44: 1,
    aip20: 0,
    client: { token: "unik", symbol: "UNIK", explorer: "https://explorer.unikname.network" },
    transactionsConfig: disabledTransactions,
    forgeFactory: {
      unikidWhiteList: [
        "fbfbe7d9e8c005f1a9937d9fd17c4ef7da2ff8037a71e6cb7847b302eda4d08a",
        "8bdd3a5358a8c6e0d96796048a87a8d83d076c73f52a0b850575e95f192376f9",
      ],
    },
    foundation: { publicKey: "02669e5f915de44a335155d20cde6dc0d61548498a8f38b05f6e399d5318624299" },
    delegateWhitelistUniks: [
      "a3a7b9c12c35c19052e55f3467f4efbf6e57f64b538af0f18685e676fd673c84",
      "564614968f07f385edad46d972d95f4d6a07d4fe787b9f621f0c79a303121c4d",
      "79f785f7be780fa53e5c0bee8b0d663d36cc5df66c1ab64d4da10e83b4be81e1",
    ],
  },
  milestones: [
    { ...firstUnsMilestone("2017-03-21T13:00:00.000Z", 23, "5.1.3"), disableArkLegacyVote: true },
    { height: 2, block: { idFullSha256: true }, aip11: true },
    { height: 75600, certifiedNFTsOnly: true },
    {
      height: 490000,
      p2p: minimumVersions("5.2.1"),
      nbDelegatesByType: { individual: 10, organization: 10, network: 3 },
    },
    {
      height: 1721946,
      p2p: minimumVersions("5.4.0"),
      urlCheckers: ["08bf335ede1818e222ecd529e0e892190aab62a39ec40492395b825a4f640731"],
      fees: { staticFees: { UnsCertifiedNftMint: 100_000_000 } },
    },
    {
      height: 2171350,
      p2p: minimumVersions("5.5.1"),
      unsTokenEcoV2: true,
      fees: { staticFees: { UnsCertifiedNftUpdate: 100_000_000 } },
    },
    { height: 4378216, p2p: minimumVersions("5.6.0") },
    { height: 5431495, p2p: minimumVersions("5.6.4") },
    {
      height: 5848417,
      p2p: minimumVersions("5.7.2", "6.0.0"),
      unsTokenEcoV3: true,
      voucherRewards: { individual: noReward },
    },
    {
      height: 5894969,
      reward: 100_000_000,
      voucherRewards: { organization: noReward, network: noReward },
    },
  ],
  exceptions: {},
};
