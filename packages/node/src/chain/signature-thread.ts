/** Entry of a verifier thread: answers each packed batch with its verdicts, in order of arrival. */
import { parentPort } from "node:worker_threads";
import { verifyPacked } from "./signatures.ts";

parentPort?.on("message", (packed: Uint8Array) => {
  const verdicts = verifyPacked(packed);
  parentPort?.postMessage(verdicts, [verdicts.buffer]);
});
