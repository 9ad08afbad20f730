/** Pool of a chain, as a node has it, without a listener of its events. */
import type { Network } from "@uniknode/protocol";
import type { Chain } from "../../src/chain/chain.ts";
import { Pool } from "../../src/pool/pool.ts";
import { DEFAULT_POOL_OPTIONS } from "../../src/pool/pool-options.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { createPoolStore } from "../../src/store/node/pool.ts";
import type { Verifier } from "../../src/verification/verifier.ts";
import { verificationBy } from "./verification.ts";

export type BesideDeps = {
  readonly network: Network;
  /** Persists the pool. */
  readonly database: Database;
  readonly verify: Verifier["verify"];
  /** Network time in seconds. */
  readonly now: () => number;
};

export const openPoolBeside = (chain: Chain, { network, database, verify, now }: BesideDeps): Pool =>
  new Pool(DEFAULT_POOL_OPTIONS, {
    network,
    state: chain.state,
    head: chain.head,
    now,
    storedIds: chain.storedIds,
    store: createPoolStore(database),
    ...verificationBy(network, verify),
    emit: () => {},
  });
