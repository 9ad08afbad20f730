/** Converts a database until progress was reported a number of times, and kills itself then: `PATH CALLS`. */
import { createNetwork } from "@uniknode/protocol";
import { convertDatabase } from "../../src/archive/conversion/convert.ts";
import { present } from "../../src/platform/present.ts";
import { networkFilesOf } from "./network.ts";

let calls = Number(process.argv[3]);
await convertDatabase(present(process.argv[2]), {
  network: createNetwork(networkFilesOf()),
  signal: new AbortController().signal,
  onProgress() {
    calls -= 1;
    if (calls === 0) process.kill(process.pid, "SIGKILL");
  },
});
