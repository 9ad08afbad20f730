/** Entry of a verifier thread: answers each packed batch with its verdicts, in order of arrival; `null` ends it. */
import { parentPort, workerData } from "node:worker_threads";
import { chooseSignatureBackend } from "./accelerator.ts";
import { createPackedVerify } from "./signatures.ts";
import type { FromSignatureThread, ToSignatureThread } from "./verifier.ts";

const { backend, refusal } = chooseSignatureBackend(workerData as string | undefined);
if (refusal) process.emitWarning(refusal.message, { code: refusal.code });
const verifyPacked = createPackedVerify(backend);

parentPort?.on("message", (batch: ToSignatureThread | null) => {
  if (batch === null) return parentPort?.close();
  const verdicts = verifyPacked(batch.packed);
  parentPort?.postMessage({ number: batch.number, verdicts } satisfies FromSignatureThread, [
    verdicts.buffer,
  ]);
});
