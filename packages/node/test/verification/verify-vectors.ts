/** Prints the processor, and the verdicts of its addon about all recorded signatures: run by the pinned runtime of another processor. */
import { readFileSync } from "node:fs";
import { present } from "../../src/platform/present.ts";
import { loadNativeVerify } from "../../src/verification/native.ts";
import { packChecks } from "../../src/verification/packed-checks.ts";

const verify = present(loadNativeVerify(), "the result of loadNativeVerify");
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
const verdicts = (["ecdsa", "schnorr"] as const).map((scheme) => {
  const file = new URL(`../../../../test/vectors/crypto/${scheme}.json`, import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Record<string, string>[] };
  const checks = cases.map(({ hash = "", signature = "", publicKey = "" }) => {
    return { scheme, hash: bytes(hash), signature: bytes(signature), publicKey: bytes(publicKey) };
  });
  const packable = checks.filter(({ hash, publicKey }) => hash.length === 32 && publicKey.length === 33);
  return verify(packChecks(packable)).join("");
});
process.stdout.write(`${process.arch} ${verdicts}`);
