/**
 * Compares the API with the parity kit: `node packages/node/test/http/parity/main.ts FOLDER [TEXT]`. FOLDER holds the
 * kit; with TEXT only cases whose file, name or path contains it are sent, and their faults are shown in full.
 */
import { readdirSync, readFileSync } from "node:fs";
import { request as send } from "node:http";
import { join } from "node:path";
import type { Answer, Case, Json } from "./case.ts";
import { faultsOf } from "./compare.ts";
import { startNode, textOf } from "./node.ts";
import { casesOf } from "./state.ts";

const [folder, text] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: main.ts FOLDER [TEXT]");

const node = await startNode(folder);
const base = `http://127.0.0.1:${node.port}`;
let isGood = true;
for (const file of readdirSync(folder).filter((name) => /^(cases-.*|state)\.json$/.test(name))) {
  const content = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const cases: Case[] = file === "state.json" ? casesOf(content) : content.cases;
  const counts = { passed: 0, failed: 0, free: 0 };
  for (const one of cases) {
    const { name, request, service } = one;
    if (text !== undefined && ![file, name, request.path].some((part) => part.includes(text))) continue;
    // The webhook service of the old network has another address and other answers altogether.
    const answer = service === undefined ? await ask(one) : undefined;
    const faults = answer && faultsOf(one, answer, base);
    if (faults === undefined) counts.free += 1;
    else if (faults.length === 0) counts.passed += 1;
    else {
      counts.failed += 1;
      isGood = false;
      console.log(`${file} ${name}: ${request.method} ${request.path.slice(0, 200)}`);
      for (const fault of text === undefined ? faults.slice(0, 3) : faults) console.log(`    ${fault}`);
    }
  }
  if (Object.values(counts).some((count) => count > 0)) console.log(file, counts);
}
await node.close();
process.exitCode = isGood ? 0 : 1;

function ask({ request }: Case): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, path, headers } = request;
    const body = bodyText(request.body);
    const outgoing = send(
      { host: "127.0.0.1", port: node.port, method, path, headers: { ...headers, ...lengthOf(body) } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const encoding = incoming.headers["content-encoding"];
          const answer = textOf(Buffer.concat(chunks), encoding);
          const flat = Object.entries(incoming.headers).map(([name, value]) => [name, value?.toString()]);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(flat),
            body: answer === "" ? null : parse(answer),
            text: answer,
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function bodyText(body: Json): string | undefined {
  if (body === null) return undefined;
  if (typeof body === "string") return body;
  if (typeof body === "object" && !Array.isArray(body) && "$repeat" in body) {
    return String(body.$repeat).replace("#", "1".repeat(Number(body.count)));
  }
  return JSON.stringify(body);
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { "content-length": `${Buffer.byteLength(body)}` };
}

function parse(answer: string): Json {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}
