/** Generates the release notes. */
import { sectionOf } from "./changes.ts";
import type { Origin } from "./origin.ts";

const PURPOSES: readonly (readonly [RegExp, string])[] = [
  [/linux-x64\.tar\.gz$/, "the program with its runtime: unpack and run"],
  [/\.deb$/, "the same for Debian and Ubuntu, with a service"],
  [/\.cdx\.json$/, "the parts of the program (SBOM, CycloneDX)"],
  [/^uniknode-client-/, "`@uniknode/client` for npm"],
  [/^uniknode-ledger-/, "`@uniknode/ledger` for npm"],
  [/^uniknode-protocol-/, "`@uniknode/protocol` for npm"],
  [/^uniknode-[\d.]+\.tgz$/, "`uniknode` for npm"],
];

export const releaseNotes = (
  version: string,
  changelog: string,
  files: readonly string[],
  { repository }: Origin = {},
): string =>
  `# Uniknode ${version}

${sectionOf(changelog, version)}

| file | what it is |
|---|---|
${files.map((file) => `| ${file} | ${PURPOSES.find(([pattern]) => pattern.test(file))?.[1] ?? ""} |`).join("\n")}

\`sha256sum --check SHA256SUMS\` checks a download. How to install: docs/guides/install.md.${repository === undefined ? "" : ` Source: ${repository}`}
`;
