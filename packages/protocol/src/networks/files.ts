/** Reading of the network files from untrusted JSON. */

import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { createAjv } from "#ajv";
import { NetworkError } from "./error.ts";
import { checkDelegateCounts, mergeMilestones } from "./milestones.ts";
import type { Exceptions, Milestone, MilestoneChange, NetworkDescription, NetworkFiles } from "./network.ts";
import { changesSchema, descriptionSchema, exceptionsSchema, milestoneSchema } from "./schema.ts";

/** The parsed content of `network.json`, `milestones.json` and `exceptions.json`. */
export type UntrustedNetworkFiles = { network: unknown; milestones: unknown; exceptions: unknown };

/**
 * Parses the files; every member must have its type and be in its range. An unknown member is refused,
 * because it may be a rule that this node would break.
 *
 * @throws {NetworkError} INVALID_NETWORK_FILE, naming each member and its remedy;
 * InvalidMilestoneConfigurationError if the number of delegates changes inside a round
 */
export function networkFilesFromJson(content: UntrustedNetworkFiles): NetworkFiles {
  // The schemas are trusted: checking them would cost more than checking the files.
  const ajv = createAjv({
    ...{ allErrors: true, verbose: true, meta: false, validateSchema: false },
    code: { optimize: false },
  });
  const problems = [
    ...problemsOf("network.json", ajv.compile(descriptionSchema), content.network),
    ...milestoneProblems(ajv, content.milestones),
    ...problemsOf("exceptions.json", ajv.compile(exceptionsSchema), content.exceptions),
  ];
  if (problems.length > 0) throw new NetworkError("INVALID_NETWORK_FILE", problems.join("; "));

  const milestones = content.milestones as MilestoneChange[];
  checkDelegateCounts(milestones);
  checkRounds(mergeMilestones(milestones));
  return {
    network: content.network as NetworkDescription,
    milestones,
    exceptions: content.exceptions as Exceptions,
  };
}

/**
 * Refuses a change of `activeDelegates` inside a round: `checkDelegateCounts` measures from the last entry that names the number, and
 * misses some.
 *
 * @throws {NetworkError} INVALID_NETWORK_FILE
 */
function checkRounds(milestones: readonly Milestone[]): void {
  const [first] = milestones;
  let start = first?.height ?? 1;
  let size = first?.activeDelegates ?? 1;
  for (const { height, activeDelegates } of milestones) {
    if (activeDelegates === size) continue;
    if ((height - start) % size !== 0) {
      throw new NetworkError(
        "INVALID_NETWORK_FILE",
        `milestones.json: activeDelegates changes at height ${height}, inside a round: the rounds from height ${start} on have ${size} blocks`,
      );
    }
    [start, size] = [height, activeDelegates];
  }
}

/** A change can contain a part of an object, so the merged milestones must be complete. */
function milestoneProblems(ajv: Ajv, content: unknown): string[] {
  const file = "milestones.json";
  const problems = problemsOf(file, ajv.compile(changesSchema), content);
  if (problems.length > 0) return problems;

  const milestones = mergeMilestones(content as MilestoneChange[]);
  const first = milestones.findLast(({ height }) => height === 1);
  if (!first) return [`${file}: no milestone has height 1: add one with all parameters`];
  const isComplete = ajv.compile(milestoneSchema);
  // Later milestones inherit the problems of an earlier one: each problem is reported once, at the first one.
  const reported = new Set<string>();
  for (const milestone of milestones.slice(milestones.indexOf(first))) {
    for (const problem of problemsOf("", isComplete, milestone)) {
      if (reported.has(problem)) continue;
      reported.add(problem);
      problems.push(`${file}, height ${milestone.height}${problem}`);
    }
  }
  if (Number.isNaN(Date.parse(first.epoch)))
    problems.push(`${file}, height 1: epoch must be an existing day`);
  return problems;
}

function problemsOf(file: string, isValid: ValidateFunction, content: unknown): string[] {
  if (isValid(content)) return [];
  // One sentence describes an "anyOf" with all its branches.
  const errors = (isValid.errors ?? []).filter((error) => !error.schemaPath.includes("/anyOf/"));
  return errors.map((error) => `${file}: ${problemOf(error)}`);
}

/** The member and its requirement. */
function problemOf({ instancePath, keyword, params, parentSchema }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll("/", ".");
  const inside = (name: string) => (path ? `${path}.${name}` : name);
  if (keyword === "required") return `${inside(params.missingProperty)} is missing: add it`;
  if (keyword === "additionalProperties") {
    return `${inside(params.additionalProperty)} is unknown to this node: correct its name or remove it`;
  }
  return `${path || "the content"} must be ${parentSchema?.description}`;
}
