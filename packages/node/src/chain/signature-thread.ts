/** Entry of a verifier thread: answers each packed batch with its verdicts, in order of arrival. */
import { parentPort } from "node:worker_threads";
import { createPackedVerify } from "./signatures.ts";

const verifyPacked = createPackedVerify();

parentPort?.on("message", (packed: Uint8Array) => {
  const verdicts = verifyPacked(packed);
  parentPort?.postMessage(verdicts, [verdicts.buffer]);
});
