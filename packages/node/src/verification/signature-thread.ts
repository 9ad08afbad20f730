/**
 * Entry of a verifier thread: returns the verdicts of each packed batch in order of arrival; `null` ends the
 * thread.
 */
import { parentPort } from "node:worker_threads";
import { selectBackend } from "./native.ts";
import type { FromSignatureThread, ToSignatureThread } from "./worker-lane.ts";

const { verify, refusal } = await selectBackend();
if (refusal) parentPort?.postMessage({ refusal: refusal.message } satisfies FromSignatureThread);

parentPort?.on("message", (batch: ToSignatureThread | null) => {
  if (batch === null) return parentPort?.close();
  const verdicts = verify(batch.packed);
  parentPort?.postMessage({ number: batch.number, verdicts } satisfies FromSignatureThread, [
    verdicts.buffer,
  ]);
});
