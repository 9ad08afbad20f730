/** Runners of the primitives and identities (identities.md). */
import assert from "node:assert/strict";
import * as protocol from "@uniknode/protocol";
import { eachCase, type Runners } from "./vector.ts";

const { bytesToHex, hexToBytes, utf8ToBytes } = protocol;

export const identityRunners: Runners = {
  base58check: eachCase(({ payload, base58check, expect }) => {
    if (expect) assert.throws(() => protocol.decodeBase58check(base58check));
    else {
      assert.equal(protocol.encodeBase58check(hexToBytes(payload)), base58check);
      assert.equal(bytesToHex(protocol.decodeBase58check(base58check)), payload);
    }
  }),

  messages: eachCase(({ op, passphrase, message, publicKey, signature, expect }) => {
    if (op !== "sign") {
      assert.equal(protocol.verifyMessage({ message, publicKey, signature }), expect.valid);
      return;
    }
    const signed = protocol.signMessage(message, protocol.keysFromPassphrase(passphrase));
    assert.deepEqual(signed, { publicKey, signature, message });
    assert.ok(protocol.verifyMessage(signed));
    assert.equal(bytesToHex(protocol.sha256(utf8ToBytes(message))).length, 64);
  }),
};
