#!/usr/bin/env bash
# A spy that was restored by hand, and "restore all mocks" later
#
# One would guess: `mockRestore` puts the original back and ends the spy, so that restoring all mocks concerns only the spies that are
# still in place.
# What happens: Vitest 2 to 5, Jest, Sinon and node:test restore every spy again, also one that was restored before: they write the value
# that the member had when the spy was made. If that was another fake, such as `setTimeout` while timers are faked, the fake is back,
# although both were undone in the right order. Its clock has ended: timers never fire.
# Whom it hurts: suites whose files share a worker (`isolate: false`): a file that restores all mocks stops the timers of all files after
# it, which hang without an error of their own; which ones depends on the order of the files. Restore the spies that the test has made.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
# Installs packages, runs a program with the file finding.mjs, and compares what it prints.
check() {
  local expected=$1 name=$2 packages=$3 command=$4
  mkdir "$folder/$name" && cd "$folder/$name"
  echo '{"name":"finding","private":true,"type":"module"}' > package.json
  # shellcheck disable=SC2086
  [ -z "$packages" ] || npm install --no-audit --no-fund --loglevel=error --ignore-scripts $packages
  cat > finding.test.mjs
  local printed
  printed=$($command 2>&1 | grep -o 'setTimeout is .*' | head -1)
  echo "$name: after restoring all mocks, $printed"
  [ "$printed" = "setTimeout is $expected" ] || { echo "expected: $expected"; status=1; }
}
node --version
for version in 2.1.9 3.2.4 4.1.12 5.1.2; do
  check "the stopped fake" "vitest-$version" "vitest@$version" "npx vitest run" << 'JS'
import { test, vi } from "vitest";
test("restores", () => {
  const { setTimeout } = globalThis;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  vi.spyOn(globalThis, "setTimeout").mockRestore();
  vi.useRealTimers();
  if (globalThis.setTimeout !== setTimeout) throw new Error("another premise");
  vi.restoreAllMocks();
  console.log(`setTimeout is ${globalThis.setTimeout === setTimeout ? "the real one" : "the stopped fake"}`);
  globalThis.setTimeout = setTimeout;
});
JS
done
check "the stopped fake" jest-30.2.0 jest@30.2.0 "node --experimental-vm-modules node_modules/jest/bin/jest.js --testMatch **/*.mjs" << 'JS'
import { jest } from "@jest/globals";
test("restores", () => {
  const { setTimeout } = globalThis;
  jest.useFakeTimers();
  jest.spyOn(globalThis, "setTimeout").mockRestore();
  jest.useRealTimers();
  if (globalThis.setTimeout !== setTimeout) throw new Error("another premise");
  jest.restoreAllMocks();
  console.log(`setTimeout is ${globalThis.setTimeout === setTimeout ? "the real one" : "the stopped fake"}`);
});
JS
check "the stopped fake" sinon-21.0.0 "sinon@21.0.0" "node finding.test.mjs" << 'JS'
import sinon from "sinon";
const { setTimeout } = globalThis;
const clock = sinon.useFakeTimers({ toFake: ["setTimeout"] });
sinon.spy(globalThis, "setTimeout").restore();
clock.restore();
if (globalThis.setTimeout !== setTimeout) throw new Error("another premise");
sinon.restore();
console.log(`setTimeout is ${globalThis.setTimeout === setTimeout ? "the real one" : "the stopped fake"}`);
JS
check "the stopped fake" node-test "" "node finding.test.mjs" << 'JS'
import { mock } from "node:test";
const { setTimeout } = globalThis;
mock.timers.enable({ apis: ["setTimeout"] });
mock.method(globalThis, "setTimeout").mock.restore();
mock.timers.reset();
if (globalThis.setTimeout !== setTimeout) throw new Error("another premise");
mock.restoreAll();
console.log(`setTimeout is ${globalThis.setTimeout === setTimeout ? "the real one" : "the stopped fake"}`);
JS
exit $status
