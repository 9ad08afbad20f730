/** The verifier of proofs as a script for a page. */
import { join } from "node:path";
import type { ProofVerdict } from "@uniknode/client/proofs";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { provenExample } from "../../client/test-support/proofs/example.ts";

const ENTRY = join(import.meta.dirname, "../../client/src/proofs/index.ts");

/** Builds the verifier as a program that depends on it would. */
export async function buildVerifier(): Promise<string> {
  const entry = "virtual-entry";
  const built = await build({
    configFile: false,
    logLevel: "silent",
    build: { write: false, minify: true, rollupOptions: { input: entry, external: [] } },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? `\0${entry}` : undefined),
        load: (id) =>
          id === `\0${entry}`
            ? `import { verifyProof } from ${JSON.stringify(ENTRY)}; globalThis.verifyProof = verifyProof;`
            : undefined,
      },
    ],
  });
  const [output] = [built].flat();
  if (!output || !("output" in output)) throw new Error("vite built nothing");
  return output.output[0].code;
}

export type Example = ReturnType<typeof provenExample>;

/** Verifies a proof in a page that has loaded the verifier; returns the last verdict, and the time of each run. */
export const verifyInPage = (
  page: Page,
  { proof, checkpoint, nowMs, id }: Omit<Example, "proof"> & { readonly proof: unknown },
  runs = 1,
): Promise<{ verdict: ProofVerdict; milliseconds: number }> =>
  page.evaluate(
    ([proof, checkpoint, options, runs]) => {
      const { verifyProof } = globalThis as unknown as { verifyProof(...given: unknown[]): ProofVerdict };
      let verdict = verifyProof(proof, checkpoint, options);
      const started = performance.now();
      for (let run = 0; run < runs; run++) verdict = verifyProof(proof, checkpoint, options);
      return { verdict, milliseconds: (performance.now() - started) / runs };
    },
    [proof, checkpoint, { nowMs, id }, runs] as const,
  );
