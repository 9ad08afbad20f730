/**
 * `npm run bench -- signatures [--count 100000]`
 *
 * Measures each implementation of signature verification, alternating: 1,000 signatures of as many keys as livenet has delegates,
 * and of 1,000 keys, in batches of 128, after tables for these keys were built. Checks that all agree, also on COUNT signatures
 * with one altered bit of hash, signature or key.
 */
import { randomInt } from "node:crypto";
import {
  defaultSignatureBackend,
  keysFromPassphrase,
  sha256,
  signEcdsa,
  signSchnorr,
} from "@uniknode/protocol";
import { present } from "../packages/node/src/platform/present.ts";
import { loadNativeVerify, loadWebAssemblyVerify } from "../packages/node/src/verification/native.ts";
import { packChecks, type SignatureCheck } from "../packages/node/src/verification/packed-checks.ts";
import { createPackedVerify } from "../packages/node/src/verification/packed-verify.ts";
import { readArguments } from "../tools/arguments.ts";

const { values } = readArguments("bench signatures", {
  options: { count: { type: "string", default: "100000" } },
});
const MESSAGES = 1_000;
const KEYS = [23, 1_000];
/** Tables for 1,000 keys need 8 signatures of each; libauth has none. */
const WARM_ROUNDS = 10;
const WARM_ROUNDS_OF_LIBAUTH = 2;
const ROUNDS = 5;
const BATCH = 128;

const keys = Array.from({ length: MESSAGES }, (_, index) => keysFromPassphrase(`bench ${index}`));
const native = loadNativeVerify();
const ways = [
  { name: defaultSignatureBackend.name, verify: createPackedVerify() },
  { name: "libsecp256k1 (WebAssembly)", verify: loadWebAssemblyVerify() },
  ...(native ? [{ name: "libsecp256k1 (native)", verify: native }] : []),
];

function signed(scheme: SignatureCheck["scheme"], keyCount: number): SignatureCheck[] {
  const sign = scheme === "ecdsa" ? signEcdsa : signSchnorr;
  return Array.from({ length: MESSAGES }, (_, index) => {
    const { privateKey, publicKey } = present(keys[index % keyCount]);
    const hash = sha256(Uint8Array.of(index, index >> 8));
    return { scheme, hash, signature: sign(hash, privateKey), publicKey };
  });
}

/** CPU time in microseconds, and the verdict. */
function timed<T>(work: () => T): [us: number, result: T] {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return [user + system, result];
}

/** Flips one bit of the hash, the signature or the key. */
function altered(check: SignatureCheck): SignatureCheck {
  const member = present((["hash", "signature", "signature", "publicKey"] as const)[randomInt(4)]);
  const bytes = check[member].slice();
  const at = randomInt(bytes.length);
  bytes[at] = present(bytes[at]) ^ (1 << randomInt(8));
  return { ...check, [member]: bytes };
}

/** Prints the median CPU time of each implementation, and its range. */
function measure(kind: string, checks: readonly SignatureCheck[]): void {
  const batches = Array.from({ length: Math.ceil(checks.length / BATCH) }, (_, index) =>
    packChecks(checks.slice(index * BATCH, (index + 1) * BATCH)),
  );
  const times = ways.map(() => [] as number[]);
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    for (const [index, { name, verify }] of ways.entries()) {
      if (index === 0 && round < -WARM_ROUNDS_OF_LIBAUTH) continue;
      const [us, verdicts] = timed(() => batches.map(verify));
      if (round >= 0) present(times[index]).push(us / checks.length);
      if (verdicts.some((batch) => batch.includes(0))) throw new Error(`${name} refuses a sound signature`);
    }
  }
  for (const [index, { name }] of ways.entries()) {
    const sorted = present(times[index]).toSorted((a, b) => a - b);
    const [low, middle, high] = [0, ROUNDS >> 1, ROUNDS - 1].map((at) => present(sorted[at]).toFixed(1));
    console.log(`${kind}, ${name}: ${middle} us of CPU time (${low} to ${high})`);
  }
}

const all: SignatureCheck[] = [];
for (const scheme of ["ecdsa", "schnorr"] as const) {
  for (const keyCount of KEYS) {
    const checks = signed(scheme, keyCount);
    measure(`${scheme}, ${keyCount} keys`, checks);
    all.push(...checks);
  }
}

const count = Number(values.count);
let valid = 0;
for (let done = 0; done < count; done += BATCH) {
  const checks = Array.from({ length: BATCH }, () => altered(present(all[randomInt(all.length)])));
  const packed = packChecks(checks);
  const [expected = new Uint8Array(), ...others] = ways.map(({ verify }) => verify(packed));
  for (const [index, verdict] of expected.entries()) {
    if (others.some((verdicts) => verdicts[index] !== verdict))
      throw new Error(`they disagree on ${JSON.stringify(checks[index])}`);
    valid += verdict;
  }
}
console.log(`${count} altered signatures: all agree, ${valid} are valid`);
