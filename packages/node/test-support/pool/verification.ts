/** Dependencies of a pool for verification. */
import { type Network, verifyJob } from "@uniknode/protocol";
import type { Verify } from "../../src/pool/admission/verify.ts";
import type { PoolDeps } from "../../src/pool/pool.ts";
import { createRecordedSignatures } from "../../src/verification/wallet-signatures.ts";

export const verificationBy = (
  network: Network,
  verify: Verify,
): Pick<PoolDeps, "verify" | "signatures"> => ({
  verify,
  signatures: createRecordedSignatures(1_000, { network, verify, verifyNow: verifyJob }),
});
