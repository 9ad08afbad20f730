/** Runners of digests and signatures (identities.md 1, 6 and 7). */
import assert from "node:assert/strict";
import {
  bytesToHex,
  concatBytes,
  hash160,
  hash256,
  hexToBytes,
  keysFromPrivateKey,
  ripemd160,
  sha1,
  sha256,
  signEcdsa,
  signSchnorr,
  verifyEcdsa,
  verifySchnorr,
} from "@uniknode/protocol";
import { eachCase, type Runners } from "./vector.ts";

type Sign = (hash: Uint8Array, privateKey: Uint8Array) => Uint8Array;
type Verify = (hash: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) => boolean;

const signatures = (sign: Sign, verify: Verify) =>
  eachCase(({ op, privateKey, expect, ...members }) => {
    const hash = hexToBytes(members.hash);
    const signature = hexToBytes(members.signature);
    const publicKey = hexToBytes(members.publicKey);
    if (op === "sign") {
      assert.equal(bytesToHex(sign(hash, hexToBytes(privateKey))), members.signature);
      if (members.signatureLength) assert.equal(signature.length, members.signatureLength);
      assert.equal(bytesToHex(keysFromPrivateKey(hexToBytes(privateKey)).publicKey), members.publicKey);
    }
    assert.equal(verify(hash, signature, publicKey), expect?.valid ?? true);
  });

export const cryptoRunners: Runners = {
  ecdsa: signatures(signEcdsa, verifyEcdsa),
  schnorr: signatures(signSchnorr, verifySchnorr),

  hashes: eachCase(({ input, inputs, ...digests }) => {
    const data = inputs ? concatBytes(...inputs.map(hexToBytes)) : hexToBytes(input);
    for (const [name, digest] of Object.entries({ sha256, ripemd160, sha1, hash160, hash256 })) {
      if (digests[name]) assert.equal(bytesToHex(digest(data)), digests[name], name);
    }
  }),
};
