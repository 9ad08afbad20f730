import { defineConfig } from "vitest/config";

/** Networks of nodes, and nodes that are killed or attacked under load: each needs all processors, and its slots keep their time. */
const busy = ["network", "peers/network", "simulation", "crash", "siege"].map(
  (folder) => `packages/node/test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hideSkippedTests: false,
    reporters: [["default", { summary: false }]],
    projects: [
      {
        extends: true,
        test: {
          name: "rooms",
          include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: busy,
          // Most of them wait for processes and sockets.
          maxWorkers: "100%",
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "networks", include: busy, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
