/**
 * `npm run bench -- signatures [--count 100000]`
 *
 * Measures each implementation of signature verification, alternating, and checks that all agree: on signatures of 2,000
 * messages, and on COUNT of them with one altered bit in a hundred places of hash, signature or key.
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
import { selectBackend } from "../packages/node/src/verification/backend.ts";
import { packChecks, type SignatureCheck } from "../packages/node/src/verification/packed-checks.ts";
import { createPackedVerify } from "../packages/node/src/verification/packed-verify.ts";
import { readArguments } from "../tools/arguments.ts";

const { values } = readArguments("bench signatures", {
  options: { count: { type: "string", default: "100000" } },
});
const MESSAGES = 2_000;
const KEYS = 100;
const ROUNDS = 5;
const BATCH = 1_000;

const keys = Array.from({ length: KEYS }, (_, index) => keysFromPassphrase(`bench ${index}`));
const webAssembly = { name: defaultSignatureBackend.name, verify: createPackedVerify() };
const ways = [webAssembly, await selectBackend()];

function signed(scheme: SignatureCheck["scheme"]): SignatureCheck[] {
  const sign = scheme === "ecdsa" ? signEcdsa : signSchnorr;
  return Array.from({ length: MESSAGES }, (_, index) => {
    const { privateKey, publicKey } = present(keys[index % KEYS]);
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

const sound = { ecdsa: signed("ecdsa"), schnorr: signed("schnorr") };
for (const [scheme, checks] of Object.entries(sound)) {
  const packed = packChecks(checks);
  const times = ways.map(() => [] as number[]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { name, verify }] of ways.entries()) {
      const [us, verdicts] = timed(() => verify(packed));
      present(times[index]).push(us / MESSAGES);
      if (verdicts.includes(0)) throw new Error(`${name} refuses a sound signature of ${scheme}`);
    }
  }
  for (const [index, { name }] of ways.entries()) {
    const sorted = present(times[index]).toSorted((a, b) => a - b);
    const [low, middle, high] = [0, ROUNDS >> 1, ROUNDS - 1].map((at) => present(sorted[at]).toFixed(1));
    console.log(`${scheme}, ${name}: ${middle} us of processor time (${low} to ${high})`);
  }
}

const count = Number(values.count);
const all = [...sound.ecdsa, ...sound.schnorr];
let valid = 0;
for (let done = 0; done < count; done += BATCH) {
  const checks = Array.from({ length: BATCH }, () => altered(present(all[randomInt(all.length)])));
  const packed = packChecks(checks);
  const [expected, verdicts] = ways.map(({ verify }) => verify(packed));
  for (const [index, verdict] of present(verdicts).entries()) {
    if (verdict !== present(expected)[index])
      throw new Error(`they disagree on ${JSON.stringify(checks[index])}`);
    valid += verdict;
  }
}
console.log(`${count} altered signatures: both agree, ${valid} are valid`);
