/** Every runner, by `kind` or name of the vector file. */
import { blockRunners } from "./blocks.ts";
import { cryptoRunners } from "./crypto.ts";
import { identityRunners } from "./identities.ts";
import { ledgerRunners } from "./ledger.ts";
import { networkRunners } from "./networks.ts";
import { p2pRunners } from "./p2p.ts";
import { poolRunners } from "./pool.ts";
import { transactionRunners } from "./transactions.ts";
import { unsRunners } from "./uns.ts";
import type { Runners } from "./vector.ts";

export const runners: Runners = {
  ...blockRunners,
  ...cryptoRunners,
  ...identityRunners,
  ...ledgerRunners,
  ...networkRunners,
  ...p2pRunners,
  ...poolRunners,
  ...transactionRunners,
  ...unsRunners,
};
