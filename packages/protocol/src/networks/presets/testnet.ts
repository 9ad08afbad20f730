/** A historical test configuration: everything is enabled, full ids begin late. */
import type { NetworkFiles } from "../network.ts";
import { firstStaticFees } from "./common.ts";

export const testnet: NetworkFiles = {
  network: {
    name: "testnet",
    messagePrefix: "TEST message:\n",
    bip32: { public: 70617039, private: 70615956 },
    pubKeyHash: 23,
    nethash: "d9acd04bde4234a81addb8482333b4ac906bed7be5a9970ce8ada428bd083192",
    wif: 186,
    slip44: 1,
    aip20: 0,
    client: { token: "TARK", symbol: "TѦ", explorer: "http://texplorer.ark.io" },
  },
  milestones: [
    {
      height: 1,
      reward: 0,
      activeDelegates: 51,
      blocktime: 8,
      block: { version: 0, maxTransactions: 150, maxPayload: 2_097_152 },
      epoch: "2017-03-21T13:00:00.000Z",
      fees: { staticFees: firstStaticFees },
      vendorFieldLength: 64,
      multiPaymentLimit: 256,
    },
    { height: 2, aip11: true, htlcEnabled: true },
    { height: 60, aip36: true },
    { height: 75600, reward: 200_000_000 },
    { height: 100000, vendorFieldLength: 255 },
    { height: 1_000_000_000, block: { idFullSha256: true } },
  ],
  exceptions: {},
};
