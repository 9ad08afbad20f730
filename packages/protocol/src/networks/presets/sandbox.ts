/** The public test network. */
import type { NetworkFiles } from "../network.ts";
import {
  disabledTransactions,
  firstUnsMilestone,
  initialVoucherRewards,
  minimumVersions,
  raisedForgerRewards,
} from "./common.ts";

export const sandbox: NetworkFiles = {
  network: {
    name: "sandbox",
    messagePrefix: "sandbox message:\n",
    bip32: { public: 70617039, private: 70615956 },
    pubKeyHash: 63,
    nethash: "ca36a6506660b2950cf61f4963cb2ec902b45bcb2d271b54b2309c845d5f12d0",
    wif: 172,
    slip44: 1,
    aip20: 0,
    client: { token: "sunik", symbol: "SUNIK", explorer: "https://sandbox.explorer.unikname.network" },
    transactionsConfig: disabledTransactions,
    forgeFactory: {
      unikidWhiteList: [
        "ed4eaa7299284ac4c0665d2edecc3064a33134566d94e6ffceebc1ab32251a04",
        "8ddab07ee0f49c76db32018a9305d7634264c39a89317f68a8069c161f4b8ec6",
      ],
    },
    foundation: { publicKey: "0234886b5546a65beb0341b0f40f321fdc898a3e2a0831ef7578c208aa8870624f" },
    delegateWhitelistUniks: [
      "5d9247f8827d1362bd4a47df3fe4b36b371567387104f5b464d55161fc1b186a",
      "5096b4b2fdddf8b1b2e0bd42f0a6e3d3d5fcce96eb8cf65fc4e6da0768d8dbac",
      "44f6e1af48ad3b14bf8a4dbf7f7111777aa396f332e3ced3dc4466cfcc6f15c1",
    ],
  },
  milestones: [
    firstUnsMilestone("2019-12-09T00:00:00.000Z", 23, "5.1.0"),
    { height: 2, block: { idFullSha256: true }, aip11: true },
    {
      height: 327413,
      p2p: minimumVersions("5.2.0"),
      nbDelegatesByType: { individual: 10, organization: 10, network: 3 },
      certifiedNFTsOnly: true,
      disableArkLegacyVote: true,
    },
    {
      height: 1216800,
      p2p: minimumVersions("5.4.0"),
      urlCheckers: ["fcc385b9a0bf840525242c2248312988efba5ea5e03bec84cebb5c8265f56059"],
      voucherRewards: raisedForgerRewards,
      fees: { staticFees: { UnsCertifiedNftMint: 1_000_000_000 } },
    },
    {
      height: 1567130,
      p2p: minimumVersions("5.5.1"),
      unsTokenEcoV2: true,
      fees: { staticFees: { UnsCertifiedNftUpdate: 100_000_000 } },
    },
    { height: 3090149, p2p: minimumVersions("5.6.0"), voucherRewards: initialVoucherRewards },
  ],
  exceptions: {},
};
