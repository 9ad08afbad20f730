/**
 * Records when each function of the packages is called. The traced node loads this file before its own code, in every thread: it inserts
 * a call at the beginning of each function as its file is loaded, and writes the recorded times to a folder several times a second.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import { parseAst } from "rolldown/parseAst";

export type TracedFunction = {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly name: string;
  /** Milliseconds since 1970, of calls that begin at least a millisecond apart. */
  readonly calls: number[];
};

const WRITE_EVERY_MS = 100;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const OWN = /^(packages\/\w+\/src\/\S+\.ts)$/;

/** Environment in which a program, and each of its threads, records its calls in the folder. */
export const tracer = (folder: string) => ({
  NODE_OPTIONS: `--import ${import.meta.url}`,
  TRACED_CALLS_FOLDER: folder,
});

/** Returns what the threads of a program have recorded so far. */
export const readTrace = (folder: string): TracedFunction[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));

/** A node of the syntax tree; only functions and their names are read. */
type Syntax = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
};

const isSyntax = (value: unknown): value is Syntax =>
  typeof value === "object" && value !== null && typeof (value as Syntax).type === "string";

/** Calls back with each function of a syntax tree, and the name of what it is assigned to. */
function visitFunctions(node: Syntax, name: string, visit: (body: Syntax, name: string) => void): void {
  const own = [node.id, node.key].find((named) => isSyntax(named)) as Syntax | undefined;
  const inner = typeof own?.name === "string" ? own.name : name;
  if (/Function/.test(node.type) && isSyntax(node.body)) visit(node.body, inner);
  for (const child of Object.values(node).flat()) if (isSyntax(child)) visitFunctions(child, inner, visit);
}

function record(folder: string): void {
  const functions: TracedFunction[] = [];
  Object.assign(globalThis, {
    tracedCall(index: number) {
      const { calls } = functions[index] as TracedFunction;
      const now = performance.timeOrigin + performance.now();
      if (now - (calls.at(-1) ?? 0) >= 1) calls.push(now);
    },
  });

  function instrument(source: string, file: string): string {
    const inserted: { at: number; text: string }[] = [];
    visitFunctions(parseAst(source) as unknown as Syntax, "(module)", ({ type, start, end }, name) => {
      const call = `tracedCall(${functions.push({ file, name, calls: [] }) - 1})`;
      if (type === "BlockStatement") inserted.push({ at: start + 1, text: `${call};` });
      else inserted.push({ at: start, text: `(${call},` }, { at: end, text: ")" });
    });
    let code = source;
    for (const { at, text } of inserted.sort((one, other) => other.at - one.at)) {
      code = code.slice(0, at) + text + code.slice(at);
    }
    return code;
  }

  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const path = url.startsWith("file:") ? fileURLToPath(url).slice(ROOT.length) : "";
      const [, file] = OWN.exec(path) ?? [];
      if (file === undefined || !loaded.source) return loaded;
      const source = stripTypeScriptTypes(String(loaded.source));
      return { ...loaded, format: "module", source: instrument(source, file) };
    },
  });
  mkdirSync(folder, { recursive: true });
  setInterval(() => {
    const called = functions.filter(({ calls }) => calls.length > 0);
    // Renamed, so that a reader never finds a part of it.
    writeFileSync(join(folder, `${threadId}.part`), JSON.stringify(called));
    renameSync(join(folder, `${threadId}.part`), join(folder, `${threadId}.json`));
  }, WRITE_EVERY_MS).unref();
}

const ownFolder = process.env.TRACED_CALLS_FOLDER;
if (ownFolder !== undefined) record(ownFolder);
