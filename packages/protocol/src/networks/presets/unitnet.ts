/** A historical test configuration with version 2 transactions from the first block on. */
import type { NetworkFiles } from "../network.ts";
import { firstStaticFees } from "./common.ts";

export const unitnet: NetworkFiles = {
  network: {
    name: "unitnet",
    messagePrefix: "UNIT message:\n",
    bip32: { public: 70617039, private: 70615956 },
    pubKeyHash: 23,
    nethash: "a63b5a3858afbca23edefac885be74d59f1a26985548a4082f4f479e74fcc348",
    wif: 186,
    slip44: 1,
    aip20: 0,
    client: { token: "UARK", symbol: "UѦ", explorer: "http://uexplorer.ark.io" },
  },
  milestones: [
    {
      height: 1,
      reward: 0,
      activeDelegates: 51,
      blocktime: 8,
      block: { version: 0, maxTransactions: 150, maxPayload: 6_300_000 },
      epoch: "2017-03-21T13:00:00.000Z",
      fees: { staticFees: firstStaticFees },
      vendorFieldLength: 64,
      multiPaymentLimit: 256,
      aip11: true,
      htlcEnabled: true,
    },

    { height: 75600, reward: 200_000_000 },
    { height: 100000, vendorFieldLength: 255 },
    { height: 4000000, block: { idFullSha256: true } },
  ],
  exceptions: {},
};
