/** Signatures of both schemes, valid or altered in ways that distinguish implementations. */

import {
  concatBytes,
  keysFromPassphrase,
  signEcdsa,
  signSchnorr,
  uncompressPublicKey,
} from "@uniknode/protocol";
import fc from "fast-check";
import { bytes32, der, N, P, toInteger } from "../../../protocol/test-support/arithmetic.ts";
import { present } from "../../src/platform/present.ts";
import type { SignatureCheck } from "../../src/verification/packed-checks.ts";

const TOP = 2n ** 256n - 1n;
const EDGES = [0n, 1n, N / 2n, N / 2n + 1n, N - 1n, N, N + 1n, P - 1n, P, P + 1n, TOP];

const edge = fc.constantFrom(...EDGES);
const hash = fc.oneof(fc.uint8Array({ minLength: 32, maxLength: 32 }), edge.map(bytes32));
const keys = fc.constantFrom(
  ...Array.from({ length: 21 }, (_, index) => keysFromPassphrase(`passphrase ${index}`)),
);

type Scalars = { r: bigint; s: bigint };

/** Unchanged half of the time; the signature has room for 256 bits of each. */
const alterScalars: fc.Arbitrary<(scalars: Scalars) => Scalars> = fc.oneof(
  { weight: 4, arbitrary: fc.constant((scalars: Scalars) => scalars) },
  {
    weight: 1,
    arbitrary: edge.map((r) => ({ s }: Scalars) => ({ r, s })),
  },
  {
    weight: 1,
    arbitrary: edge.map((s) => ({ r }: Scalars) => ({ r, s })),
  },
  { weight: 1, arbitrary: fc.constant(({ r, s }: Scalars) => ({ r, s: (N - s) & TOP })) },
  { weight: 1, arbitrary: fc.constant(({ r, s }: Scalars) => ({ r, s: (s + N) & TOP })) },
);

const alterBytes: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array> = fc.oneof(
  { weight: 8, arbitrary: fc.constant((bytes: Uint8Array) => bytes) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.nat(7)).map(
      ([at, bit]) =>
        (bytes: Uint8Array) =>
          bytes.map((byte, index) => (index === at % bytes.length ? byte ^ (1 << bit) : byte)),
    ),
  },
  { weight: 1, arbitrary: fc.nat(7).map((count) => (bytes: Uint8Array) => bytes.subarray(0, -1 - count)) },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 8 })
      .map((more) => (bytes: Uint8Array) => concatBytes(bytes, more)),
  },
);

/** Compressed, uncompressed, or uncompressed with any prefix. */
const alterKey: fc.Arbitrary<(publicKey: Uint8Array) => Uint8Array> = fc.oneof(
  fc.constant((publicKey: Uint8Array) => publicKey),
  fc.constant((publicKey: Uint8Array) =>
    present(uncompressPublicKey(publicKey), "the result of uncompressPublicKey"),
  ),
  fc
    .integer({ min: 2, max: 8 })
    .map(
      (prefix) => (publicKey: Uint8Array) =>
        present(uncompressPublicKey(publicKey), "the result of uncompressPublicKey").map((byte, index) =>
          index === 0 ? prefix : byte,
        ),
    ),
);

/** Valid in about one case of five. */
export const alteredSignature: fc.Arbitrary<SignatureCheck> = fc
  .record({
    scheme: fc.constantFrom("ecdsa" as const, "schnorr" as const),
    hash,
    keys,
    alterScalars,
    alterHash: alterBytes,
    alterSignature: alterBytes,
    alterPoint: alterKey,
    alterKey: alterBytes,
  })
  .map(({ scheme, hash, keys, ...alter }) => {
    const signature = scheme === "ecdsa" ? altered(signEcdsa(hash, keys.privateKey)) : schnorrOf();
    return {
      scheme,
      hash: alter.alterHash(hash),
      signature: alter.alterSignature(signature),
      publicKey: alter.alterKey(alter.alterPoint(keys.publicKey)),
    };

    function altered(signature: Uint8Array): Uint8Array {
      const sAt = 4 + present(signature[3], "an item of signature");
      const r = toInteger(signature.subarray(4, sAt));
      const scalars = alter.alterScalars({ r, s: toInteger(signature.subarray(sAt + 2)) });
      return der(scalars.r, scalars.s);
    }
    function schnorrOf(): Uint8Array {
      const signature = signSchnorr(hash, keys.privateKey);
      const r = toInteger(signature.subarray(0, 32));
      const scalars = alter.alterScalars({ r, s: toInteger(signature.subarray(32)) });
      return concatBytes(bytes32(scalars.r), bytes32(scalars.s));
    }
  });
