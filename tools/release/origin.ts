/** Maintainer and repository of a release, given by the releaser because the repository does not contain its address. */
import { parseArgs } from "node:util";

export type Origin = {
  /** `Name <mail>`, for the Debian package. */
  readonly maintainer?: string;
  /** URL of the public repository. */
  readonly repository?: string;
};

export type Order = {
  readonly what: "everything" | "packages" | "version" | "checkpoints";
  readonly origin: Origin;
  /** Nodes whose checkpoints are written. */
  readonly urls?: readonly string[];
};

/** Printed for wrong arguments. */
export const USAGE =
  'usage: npm run release -- [packages|version|checkpoints URL...] [--maintainer "Name <mail>"] [--repository https://...] (CONTRIBUTING.md, "Release")';

/**
 * Parses the command line.
 *
 * @throws {Error} for arguments that CONTRIBUTING.md does not describe
 */
export function readOrder(args: readonly string[]): Order {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { maintainer: { type: "string" }, repository: { type: "string" } },
  });
  const [what = "everything", ...more] = positionals;
  if (what === "checkpoints" && more.length > 0) return { what, origin: {}, urls: more.map(readUrl) };
  if (more.length > 0 || (what !== "everything" && what !== "packages" && what !== "version"))
    throw new Error(`${JSON.stringify(positionals.join(" "))} is not a part of a release`);
  const { maintainer, repository } = values;
  if (maintainer !== undefined && !/^[^<>\n]+ <[^<>@\s]+@[^<>@\s]+>$/.test(maintainer))
    throw new Error(`--maintainer: "Name <mail>" is expected, not ${JSON.stringify(maintainer)}`);
  if (repository !== undefined && !/^https:\/\/[^\s"]+$/.test(repository))
    throw new Error(`--repository: a URL with https is expected, not ${JSON.stringify(repository)}`);
  return {
    what,
    origin: {
      ...(maintainer !== undefined && { maintainer }),
      ...(repository !== undefined && { repository }),
    },
  };
}

/** @throws {Error} */
function readUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new Error(`the URL of a node is expected, not ${JSON.stringify(url)}`);
  return url;
}

/** Returns a line for each missing field, with the option that sets it. */
export const silences = ({ maintainer, repository }: Origin): string[] => [
  ...(maintainer === undefined
    ? ['The Debian package names no maintainer who can be reached: --maintainer "Name <mail>"']
    : []),
  ...(repository === undefined ? ["No file names the public repository: --repository https://..."] : []),
];

/** Debian requires a maintainer. The domain exists nowhere (RFC 2606). */
const UNNAMED_MAINTAINER = "The Uniknode maintainers <maintainers@uniknode.invalid>";

export const maintainerOf = ({ maintainer = UNNAMED_MAINTAINER }: Origin): string => maintainer;

/** Returns the fields of a Debian package. */
export const debianFields = (origin: Origin): string =>
  [
    `Maintainer: ${maintainerOf(origin)}\n`,
    ...(origin.repository === undefined ? [] : [`Homepage: ${origin.repository}\n`]),
  ].join("");

/** The member of the manifest of a package in the folder `packages/NAME`. */
export const manifestMembers = ({ repository }: Origin, name: string) =>
  repository === undefined
    ? {}
    : { repository: { type: "git", url: `git+${repository}`, directory: `packages/${name}` } };
