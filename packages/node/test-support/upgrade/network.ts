/** The network of the data folders that `make.ts` creates. */
import type { NetworkFiles } from "@uniknode/protocol";
import { devGenesis } from "../../src/dev-chain/genesis.ts";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const [ACCOUNTS, BLOCK_TIME_SECONDS] = [10, 1];

export const networkFilesOf = (): NetworkFiles =>
  devGenesis(castOf(deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION), ACCOUNTS), BLOCK_TIME_SECONDS).files;
