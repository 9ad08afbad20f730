import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Threads share less, start faster, and are enough: no test changes the process.
    pool: "forks",
    testTimeout: 30_000,
    hideSkippedTests: false,
    reporters: [["default", { summary: false }]],
  },
});
