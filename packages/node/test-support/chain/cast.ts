/** Accounts of a network under load. */
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
export const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);

export const factory = people("factory");
export const ada = people("ada");
export const ben = people("ben");
export const cleo = people("cleo");
export const dora = people("dora");
export const emil = people("emil");
export const finn = people("finn");
export const gwen = people("gwen");
export const payer = people("payer");
export const ALL_ACCOUNTS = [factory, ada, ben, cleo, dora, emil, finn, gwen, payer];

/** Becomes a delegate, and temporarily one of the active ones. */
export const CANDIDATE = ada;
