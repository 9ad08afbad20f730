/** Options of the pool: which transactions this node accepts and broadcasts. The rules of blocks do not depend on them. */
import {
  DEFAULT_POOL_MAX_PER_REQUEST,
  DEFAULT_POOL_OPTIONS,
  type PoolOptions,
} from "../pool/pool-options.ts";
import { optionTable, readInteger, readList } from "./define-option.ts";
import type { Config } from "./resolve.ts";

const { poolSize, poolMaxPerSender, poolAllowedSenders, fees } = DEFAULT_POOL_OPTIONS;

export const poolOptions = optionTable({
  poolSize: {
    placeholder: "N",
    sentence:
      "Maximum number of pending transactions; beyond it, the transactions with the lowest fees are removed.",
    oldVariables: ["CORE_MAX_TRANSACTIONS_IN_POOL"],
    default: poolSize,
    read: readInteger(1, 1_000_000),
  },
  poolMaxPerSender: {
    placeholder: "N",
    sentence: "Maximum number of pending transactions per sender.",
    oldVariables: ["CORE_TRANSACTION_POOL_MAX_PER_SENDER"],
    default: poolMaxPerSender,
    read: readInteger(1, 1_000_000),
  },
  poolAllowedSenders: {
    placeholder: "KEYS",
    sentence: "Public keys of senders that are exempt from poolMaxPerSender, separated by commas.",
    default: poolAllowedSenders,
    read: readPublicKeys,
  },
  poolMaxPerRequest: {
    placeholder: "N",
    sentence: "Maximum number of transactions in one API request.",
    oldVariables: ["CORE_TRANSACTION_POOL_MAX_PER_REQUEST"],
    default: DEFAULT_POOL_MAX_PER_REQUEST,
    read: readInteger(1, 1_000),
  },
  poolMinFee: {
    placeholder: "N",
    sentence:
      "Minimum fee per byte of a transaction that the pool accepts and broadcasts, in the smallest unit.",
    default: fees.minFeePool,
    read: readInteger(0, 1_000_000_000),
  },
});

function readPublicKeys(value: unknown): readonly string[] {
  const keys = readList(value);
  const wrong = keys.find((key) => !/^0[23][0-9a-f]{64}$/.test(key));
  if (wrong !== undefined)
    throw new Error(`public keys of 66 hexadecimal digits are expected; "${wrong}" is not one`);
  return keys;
}

export const toPoolOptions = (config: Config<typeof poolOptions>): PoolOptions => ({
  ...DEFAULT_POOL_OPTIONS,
  poolSize: config.poolSize,
  poolMaxPerSender: config.poolMaxPerSender,
  poolAllowedSenders: config.poolAllowedSenders,
  fees: { ...fees, minFeePool: config.poolMinFee, minFeeBroadcast: config.poolMinFee },
});
