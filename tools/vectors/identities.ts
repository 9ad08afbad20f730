/** Runners of the primitives and identities (identities.md). */
import assert from "node:assert/strict";
import * as protocol from "@uniknode/protocol";
import { networkNamed } from "./networks.ts";
import { eachCase, type Runners } from "./vector.ts";

const { bytesToHex, hexToBytes, utf8ToBytes } = protocol;

const { pubKeyHash: livenetAddress, wif: livenetWif } = networkNamed("livenet").description;

/** Error classes of the vectors that are normative; for the others only the refusal counts. */
const NAMED = ["PublicKeyError", "InvalidMultiSignatureAssetError"];

/** Asserts a refusal, with the code where the vector's error class is a named one. */
function assertRefused(action: () => unknown, error?: string): void {
  if (error && NAMED.includes(error)) assert.throws(action, { code: error });
  else assert.throws(action);
}

export const identityRunners: Runners = {
  identities: eachCase(({ passphrase, passphraseUtf8Hex, networks, ...expected }) => {
    assert.equal(bytesToHex(utf8ToBytes(passphrase)), passphraseUtf8Hex);
    const keys = protocol.keysFromPassphrase(passphrase);
    assert.equal(bytesToHex(keys.privateKey), expected.privateKey);
    assert.equal(bytesToHex(keys.publicKey), expected.publicKey);
    const uncompressed = protocol.keysFromPrivateKey(keys.privateKey, false);
    assert.equal(bytesToHex(uncompressed.publicKey), expected.uncompressedPublicKey);
    for (const [name, { address, wif }] of Object.entries<{ address: string; wif: string }>(networks)) {
      const { description } = networkNamed(name);
      assert.equal(protocol.addressFromPublicKey(expected.publicKey, description.pubKeyHash), address);
      assert.equal(protocol.encodeWif(keys.privateKey, description.wif), wif);
    }
  }),

  "private-keys": eachCase(({ privateKey, expect }) => {
    if (!expect.accepted) {
      assert.throws(() => protocol.keysFromPrivateKey(hexToBytes(privateKey)));
      return;
    }
    const keys = protocol.keysFromPrivateKey(hexToBytes(privateKey));
    assert.equal(bytesToHex(keys.publicKey), expect.publicKey);
    assert.equal(protocol.addressFromPublicKey(expect.publicKey, livenetAddress), expect.addressLivenet);
    assert.equal(protocol.encodeWif(keys.privateKey, livenetWif), expect.wifLivenet);
  }),

  wif: eachCase(({ network, wif, expect }) => {
    const version = networkNamed(network).description.wif;
    if (!expect.accepted) {
      assert.throws(() => protocol.decodeWif(wif, version));
      return;
    }
    const { privateKey, publicKey, compressed } = protocol.decodeWif(wif, version);
    assert.deepEqual(
      { accepted: true, publicKey: bytesToHex(publicKey), privateKey: bytesToHex(privateKey), compressed },
      expect,
    );
    if (compressed) assert.equal(protocol.encodeWif(privateKey, version), wif);
  }),

  addresses: eachCase(({ network, address, expect }) => {
    const { pubKeyHash } = networkNamed(network).description;
    assert.equal(protocol.isAddress(address, pubKeyHash), expect.valid);
    if (expect.decode.rejected) {
      assert.throws(() => protocol.decodeAddress(address, pubKeyHash));
      return;
    }
    const { payload, isForeign } = protocol.decodeAddress(address, pubKeyHash);
    assert.deepEqual({ payload: bytesToHex(payload), networkByteMatches: !isForeign }, expect.decode);
  }),

  "public-keys": eachCase(({ publicKey, expect }) => {
    assert.equal(protocol.isPublicKey(publicKey, livenetAddress), expect.valid);
    const addressOf = () => protocol.addressFromPublicKey(publicKey, livenetAddress);
    if (expect.addressLivenet) assert.equal(addressOf(), expect.addressLivenet);
    else assertRefused(addressOf, expect.error);
  }),

  "multisignature-addresses": eachCase(({ min, publicKeys, expect }) => {
    const publicKeyOf = () => protocol.multiSignaturePublicKey({ min, publicKeys });
    if (!expect.accepted) {
      assertRefused(publicKeyOf, expect.error);
      return;
    }
    assert.equal(publicKeyOf(), expect.publicKey);
    for (const [name, address] of Object.entries(expect.addresses)) {
      const { pubKeyHash } = networkNamed(name).description;
      assert.equal(protocol.addressFromPublicKey(expect.publicKey, pubKeyHash), address);
    }
  }),

  "hd-wallets": eachCase(({ network: name, mnemonic, mnemonicPassphrase, root, ...expected }) => {
    const network = networkNamed(name).description;
    const node = protocol.hdRoot(mnemonic, network, mnemonicPassphrase ?? undefined);
    assert.equal(bytesToHex(node.keys.publicKey), root.publicKey);
    assert.equal(bytesToHex(node.keys.privateKey), root.privateKey);
    assert.equal(node.extendedPrivateKey, expected.rootXpriv);
    const coinKey = bytesToHex(protocol.hdCoinNode(node).keys.publicKey);
    assert.equal(coinKey, expected.slip44Node.publicKey);
    const networkKey = bytesToHex(protocol.hdNetworkNode(node, network).keys.publicKey);
    assert.equal(networkKey, expected.networkNode.publicKey);
    const leaf = node.derive(expected.leaf.path).keys;
    assert.equal(bytesToHex(leaf.publicKey), expected.leaf.publicKey);
    assert.equal(bytesToHex(leaf.privateKey), expected.leaf.privateKey);
    const address = protocol.addressFromPublicKey(expected.leaf.publicKey, network.pubKeyHash);
    assert.equal(address, expected.leaf.address);
  }),

  bip38: eachCase(async ({ op, privateKey, compressed, passphrase, bip38, expect }) => {
    if (op === "encrypt") {
      assert.equal(await protocol.encryptBip38(hexToBytes(privateKey), passphrase, compressed), bip38);
      const decrypted = await protocol.decryptBip38(bip38, passphrase);
      assert.equal(bytesToHex(decrypted.privateKey), privateKey);
      assert.equal(decrypted.compressed, compressed);
      return;
    }
    assert.equal(protocol.isBip38(bip38), expect.wellFormed);
    if (!expect.accepted) {
      await assert.rejects(protocol.decryptBip38(bip38, passphrase));
      return;
    }
    const decrypted = await protocol.decryptBip38(bip38, passphrase);
    assert.equal(bytesToHex(decrypted.privateKey), expect.privateKey);
    assert.equal(decrypted.compressed, expect.compressed);
  }),

  base58check: eachCase(({ payload, base58check, expect }) => {
    if (expect) assert.throws(() => protocol.decodeBase58check(base58check));
    else {
      assert.equal(protocol.encodeBase58check(hexToBytes(payload)), base58check);
      assert.equal(bytesToHex(protocol.decodeBase58check(base58check)), payload);
    }
  }),

  messages: eachCase(({ op, passphrase, message, digest, publicKey, signature, expect }) => {
    if (op !== "sign") {
      assert.equal(protocol.verifyMessage({ message, publicKey, signature }), expect.valid);
      return;
    }
    const signed = protocol.signMessage(message, protocol.keysFromPassphrase(passphrase));
    assert.deepEqual(signed, { publicKey, signature, message });
    assert.ok(protocol.verifyMessage(signed));
    assert.equal(bytesToHex(protocol.sha256(utf8ToBytes(message))), digest);
  }),
};
