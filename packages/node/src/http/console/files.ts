/** The built files of the console, in the form in which they are sent. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Encodings in order of preference. */
export const ENCODINGS = ["br", "gzip"] as const;
type Encoding = (typeof ENCODINGS)[number];

/** Files by their path below `/console/`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Folders of the files in a release and in the workspace. */
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
/** Size above which the strongest compression is too slow: most of a second, for a tenth of the bytes. */
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
/** Suffix of files that the build has compressed with brotli. */
const COMPRESSED = ".br";
/** Folder in which Vite adds a digest to file names. */
const HASHED = /^assets\//;

/** Reads the files of the console; returns undefined if it was not built. */
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
      return [shown, new ConsoleFile(shown, readFileSync(path), built)];
    }),
  );
}

export class ConsoleFile {
  readonly type: string;
  /** ETag of the uncompressed bytes. */
  readonly tag: string;
  /** True if the name of the file changes with its content. */
  readonly isImmutable: boolean;
  readonly bytes: Buffer;
  readonly #encoded: Map<Encoding, Promise<Buffer>>;

  constructor(path: string, bytes: Buffer, built: Buffer | undefined) {
    this.type = TYPES[extname(path)] ?? "application/octet-stream";
    this.tag = hash("sha256", bytes, "hex").slice(0, 16);
    this.isImmutable = HASHED.test(path);
    this.bytes = bytes;
    this.#encoded = new Map(built && [["br", Promise.resolve(built)]]);
  }

  /** Returns the compressed file; compresses it at the first request unless the build did, and caches it. */
  encoded(encoding: Encoding): Promise<Buffer> {
    const known = this.#encoded.get(encoding) ?? ENCODERS[encoding](this.bytes);
    this.#encoded.set(encoding, known);
    return known;
  }
}
