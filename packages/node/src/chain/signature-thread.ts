/** Entry of a verifier thread: answers each packed batch with its verdicts, in order of arrival; `null` ends it. */
import { parentPort, workerData } from "node:worker_threads";
import { chooseSignatureBackend } from "./accelerator.ts";
import { createPackedVerify } from "./signatures.ts";

const { backend, refusal } = chooseSignatureBackend(workerData as string | undefined);
if (refusal) process.emitWarning(refusal.message, { code: refusal.code });
const verifyPacked = createPackedVerify(backend);

parentPort?.on("message", (packed: Uint8Array | null) => {
  if (packed === null) return parentPort?.close();
  const verdicts = verifyPacked(packed);
  parentPort?.postMessage(verdicts, [verdicts.buffer]);
});
