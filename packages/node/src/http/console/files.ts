/** The built files of the console, as they are sent. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

export type ConsoleFile = {
  readonly type: string;
  /** Of the bytes as they are. */
  readonly tag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
  readonly bytes: Buffer;
  /** Compressed by the build, or at the first request for it, and kept. */
  encoded(encoding: Encoding): Promise<Buffer>;
};

export type Encoding = "br" | "gzip";

/** By the path behind `/console/`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Where a release has them, and where the workspace builds them. */
const FOLDERS = ["../../../console", "../../../../console/dist"].map((path) =>
  join(import.meta.dirname, path),
);

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};
const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)];
/** Beyond it the strongest compression would take most of a second, for a tenth of the bytes. */
const LARGE_BYTES = 262_144;
const ENCODERS = {
  br: (bytes: Buffer) =>
    brotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: bytes.length > LARGE_BYTES ? 9 : constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Buffer) => gzipped(bytes),
};
/** Behind the name of a file: the same, as the build has compressed it with brotli. */
const COMPRESSED = ".br";
/** Vite gives files below it names with a digest. */
const HASHED = /^assets\//;

/** Undefined where the console was not built. */
export function readConsoleFiles(folders: readonly string[] = FOLDERS): ConsoleFiles | undefined {
  const folder = folders.find((folder) => existsSync(join(folder, "index.html")));
  if (folder === undefined) return undefined;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith(COMPRESSED),
  );
  return new Map(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const shown = relative(folder, path).replaceAll(sep, "/");
      const compressed = path + COMPRESSED;
      const built = existsSync(compressed) ? readFileSync(compressed) : undefined;
      return [shown, fileOf(shown, readFileSync(path), built)];
    }),
  );
}

function fileOf(path: string, bytes: Buffer, built: Buffer | undefined): ConsoleFile {
  const kept = new Map<Encoding, Promise<Buffer>>(built && [["br", Promise.resolve(built)]]);
  return {
    type: TYPES[extname(path)] ?? "application/octet-stream",
    tag: hash("sha256", bytes, "hex").slice(0, 16),
    isImmutable: HASHED.test(path),
    bytes,
    encoded(encoding) {
      const known = kept.get(encoding) ?? ENCODERS[encoding](bytes);
      kept.set(encoding, known);
      return known;
    },
  };
}
