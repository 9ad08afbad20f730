/** Last step of the build: what a page begins with, compressed once and for all. The node sends it as it is. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import type { Plugin } from "vite";

const compress = promisify(brotliCompress);
/** Documents are compressed on demand: compressing all of them would take longer than the rest of the build. */
const COMPRESSED = /\.(html|js|css)$/;

export const compressPlugin = (): Plugin => ({
  name: "compress",
  async writeBundle({ dir = "" }, bundle) {
    const files = Object.values(bundle).filter(({ fileName }) => COMPRESSED.test(fileName));
    await Promise.all(
      files.map(async (file) => {
        const content = file.type === "chunk" ? file.code : file.source;
        await writeFile(join(dir, `${file.fileName}.br`), await compress(content));
      }),
    );
  },
});
