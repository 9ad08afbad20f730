/** Processes of the comparisons: each posts jobs without signatures. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Agent } from "undici";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Workers } from "./contender.ts";

/** Starts processes of a module, which call `runWorker`. */
export async function forkWorkers(module: string, databaseUrl: string, count: number): Promise<Workers> {
  const children = Array.from({ length: count }, () => fork(module, [databaseUrl]));
  await Promise.all(children.map((child) => once(child, "message")));
  return {
    pids: children.map(({ pid }) => present(pid)),
    failure: () => (children.some(({ exitCode }) => exitCode !== null) ? "a process ended" : undefined),
    stop: async () => void (await Promise.all(children.map(end))),
  };
}

async function end(child: ChildProcess): Promise<void> {
  child.disconnect();
  await once(child, "exit");
}

/** Runs until the parent process ends this one. */
export async function runWorker(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  process.on("disconnect", () => stopping.abort());
  process.send?.("ready");
  await work(stopping.signal);
}

export type Job = { readonly message: string; readonly body: string; readonly url: string };

/** Returns the status of the response. */
export async function post(agent: Agent, { message, body, url }: Job): Promise<number> {
  const { origin, pathname: path } = new URL(url);
  const headers = { "content-type": "application/json", "webhook-id": message };
  const response = await agent.request({ origin, path, method: "POST", headers, body });
  await response.body.dump();
  return response.statusCode;
}
