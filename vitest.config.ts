import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // Tests that wait for processes leave a processor to others.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hideSkippedTests: false,
    reporters: [["default", { summary: false }]],
  },
});
