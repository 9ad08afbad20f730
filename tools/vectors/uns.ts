/** Runner of the payloads that demanders and certifiers sign (transactions.md 12). */
import assert from "node:assert/strict";
import * as protocol from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { eachCase, type Runners } from "./vector.ts";

const { bytesToHex, keysFromPassphrase, sha256 } = protocol;

type Signed = { bytes: string; sha256: string; passphrase: string; signature: string; publicKey: string };

function assertBytes(bytes: Uint8Array, expected: Pick<Signed, "bytes" | "sha256">): void {
  assert.equal(bytesToHex(bytes), expected.bytes);
  assert.equal(bytesToHex(sha256(bytes)), expected.sha256);
}

/** The bytes, their signature, and that it is valid for its key and not for another. */
function assertSigned(bytes: Uint8Array, verify: (publicKey: string) => boolean, expected: Signed): void {
  assertBytes(bytes, expected);
  const { privateKey } = keysFromPassphrase(expected.passphrase);
  assert.equal(bytesToHex(protocol.signEcdsa(sha256(bytes), privateKey)), expected.signature);
  assert.ok(verify(expected.publicKey));
  assert.ok(!verify(bytesToHex(keysFromPassphrase("another key").publicKey)));
}

// biome-ignore lint/suspicious/noExplicitAny: see Runner
const checks: Record<string, (testCase: any) => void> = {
  "disclose-demand"({ payload, ...expected }) {
    const demand = protocol.signDiscloseDemand(payload, keysFromPassphrase(expected.passphrase));
    assert.equal(demand.signature, expected.signature);
    assert.equal(protocol.discloseSubject(payload), expected.sha256);
    const verify = (publicKey: string) => protocol.verifyDiscloseDemand(demand, publicKey);
    assertSigned(protocol.discloseDemandBytes(payload), verify, expected);
  },

  "disclose-demand-certification"({ payload, ...expected }) {
    const { signature } = expected;
    const verify = (publicKey: string) =>
      protocol.verifyDiscloseCertification({ payload, signature }, publicKey);
    assertSigned(protocol.discloseCertificationBytes(payload), verify, expected);
  },

  certification({ payload: { cost, ...others }, ...expected }) {
    const { signature } = expected;
    const payload = { ...others, cost: BigInt(cost) };
    const verify = (publicKey: string) => protocol.verifyCertification({ payload, signature }, publicKey);
    assertSigned(protocol.certificationBytes(payload), verify, expected);
  },

  demand({ payload: { nft, demand }, ...expected }) {
    const signed = protocol.signDemand(nft, demand.payload, keysFromPassphrase(expected.passphrase));
    assert.equal(signed.signature, expected.signature);
    const verify = (publicKey: string) => protocol.verifyDemand(nft, signed, publicKey);
    assertSigned(protocol.demandBytes(nft, demand.payload), verify, expected);
  },

  "certification-sub"({ payload: { nft, demand }, ...expected }) {
    const signature = protocol.hexToBytes(demand.signature);
    assertBytes(protocol.concatBytes(protocol.demandBytes(nft, demand.payload), signature), expected);
    assert.equal(protocol.certificationSubject(nft, demand), expected.sha256);
  },
};

export const unsRunners: Runners = {
  "uns-payloads": eachCase((testCase) => present(checks[testCase.kind])(testCase)),
};
