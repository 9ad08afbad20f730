/**
 * Entry of a verifier thread: returns the verdicts of each packed batch in order of arrival; `null` ends the
 * thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { chooseVerify } from "./choose-verify.ts";
import type { FromSignatureThread, ToSignatureThread } from "./verifier.ts";

const { verify, refusal } = await chooseVerify(workerData as string | undefined);
if (refusal) parentPort?.postMessage({ refusal: refusal.message } satisfies FromSignatureThread);

parentPort?.on("message", (batch: ToSignatureThread | null) => {
  if (batch === null) return parentPort?.close();
  const verdicts = verify(batch.packed);
  parentPort?.postMessage({ number: batch.number, verdicts } satisfies FromSignatureThread, [
    verdicts.buffer,
  ]);
});
