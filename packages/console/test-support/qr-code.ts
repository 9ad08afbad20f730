/** Reads QR codes as a device does. */
import decodeQR from "qr/decode.js";
import type { QrCode } from "../src/components/qr-code.tsx";

/** Pixels of a module. */
const SCALE = 3;

/** Draws the path as a picture, and decodes the picture. */
export function readQrCode({ size, path }: QrCode): string {
  const width = size * SCALE;
  const data = new Uint8Array(4 * width * width).fill(255);
  for (const [, left, top, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let y = Number(top) * SCALE; y < (Number(top) + 1) * SCALE; y++) {
      const from = 4 * (y * width + Number(left) * SCALE);
      for (let at = from; at < from + 4 * Number(length) * SCALE; at += 4) data.fill(0, at, at + 3);
    }
  }
  return decodeQR({ width, height: width, data });
}
