/** Prints the implementation, and the verdicts of a thread on a good and a bad signature. */
import { keysFromPassphrase, sha256, signSchnorr } from "@uniknode/protocol";
import { selectBackend } from "../../src/verification/native.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";

const { privateKey, publicKey } = keysFromPassphrase("one passphrase");
const hash = sha256(publicKey);
const check = { hash, scheme: "schnorr" as const, signature: signSchnorr(hash, privateKey), publicKey };
const verifier = new BatchVerifier({ threads: 1 });
const verdicts = await verifier.verify([check, { ...check, hash: sha256(hash) }]);
await verifier.close();
const { name } = await selectBackend();
process.stdout.write(`${name} ${verdicts}`);
