/** QR codes as SVG. */
import { encodeQR } from "qr";

export type QrCode = {
  /** Width and height in modules, with the quiet zone. */
  readonly size: number;
  /** Path of the dark modules. */
  readonly path: string;
};

/** Capacity of the largest code: 2,953 bytes with the lowest error correction. */
const MAX_BYTES = 2_953;
/** Width of the quiet zone in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** Returns the code of a text; undefined if the text is too long for one. */
export function qrCode(text: string): QrCode | undefined {
  if (new TextEncoder().encode(text).length > MAX_BYTES) return undefined;
  const rows = encodeQR(text, "raw", { ecc: "low", border: QUIET_ZONE, optimize: false });
  return { size: rows.length, path: rows.flatMap(runsOf).join("") };
}

/** Returns each run of dark modules of a row as a rectangle. */
function runsOf(row: readonly boolean[], y: number): string[] {
  const runs: string[] = [];
  for (let x = 0; x < row.length; x++) {
    const start = x;
    while (row[x]) x++;
    if (x > start) runs.push(`M${start} ${y}h${x - start}v1h${start - x}z`);
  }
  return runs;
}

/** Renders nothing if the text is too long. */
export function QrCodeView({ text, label }: { text: string; label: string }) {
  const code = qrCode(text);
  return code ? (
    <svg
      class="qr-code"
      viewBox={`0 0 ${code.size} ${code.size}`}
      shape-rendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <path d={code.path} />
    </svg>
  ) : null;
}
