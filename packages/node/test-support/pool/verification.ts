/** Dependencies of a pool for verification. */
import type { Network } from "@uniknode/protocol";
import type { PoolDeps } from "../../src/pool/pool.ts";
import { createVerifyNow } from "../../src/verification/caching-verifier.ts";
import { RecordedSignatures } from "../../src/verification/wallet-signatures.ts";

export const verificationBy = (
  network: Network,
  verify: PoolDeps["verify"],
): Pick<PoolDeps, "verify" | "signatures"> => ({
  verify,
  signatures: new RecordedSignatures(1_000, { network, verify, verifyNow: createVerifyNow() }),
});
