#!/usr/bin/env bash
# Entries of a cache that shall live for 30 days, such as ids of messages that were handled
#
# One would guess: a package for entries that expire keeps one for the time that it was given, or refuses a time that is too long for it.
# What happens: moize 6.1.7 (`maxAge`), memory-cache 0.2.0, timed-cache 2.0.0, fast-memory-cache 3.0.0 and expiry-map 2.0.0 drop an entry within
# milliseconds if it shall live for 25 days or more, because each entry has a timer, and timers of JavaScript end at 24.8 days.
# Node.js prints a warning; expiry-map starts its timer again and again. memoizee 0.4.17 throws. node-cache, keyv, quick-lru,
# @isaacs/ttlcache, ttl-mem-cache and ttl-set keep the entry.
# Whom it hurts: receivers of webhooks and queues that remember handled ids "for a month": they remember nothing, and a message that is
# sent again is paid again. With 24 days all is well. Keep such ids in a database, with a unique index.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts moize@6.1.7 memory-cache@0.2.0 timed-cache@2.0.0 fast-memory-cache@3.0.0 expiry-map@2.0.0 \
  memoizee@0.4.17 node-cache@5.1.2 keyv@6.1.0 quick-lru@7.3.0 @isaacs/ttlcache@2.1.5 ttl-mem-cache@4.1.0 ttl-set@1.0.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { TTLCache } from "@isaacs/ttlcache";
import Keyv from "keyv";
import QuickLru from "quick-lru";

const load = createRequire(import.meta.url);
const defaultOf = (loaded) => loaded.default ?? loaded;
const moize = defaultOf(load("moize"));
const MemoryCache = load("memory-cache").Cache;
const TimedCache = defaultOf(load("timed-cache"));
const FastMemoryCache = defaultOf(load("fast-memory-cache"));
const ExpiryMap = defaultOf(defaultOf(await import("expiry-map")));
const memoizee = load("memoizee");
const NodeCache = load("node-cache");
const TtlMemCache = defaultOf(load("ttl-mem-cache"));
const TtlSet = load("ttl-set").TTLSet ?? defaultOf(load("ttl-set"));

/** Remembers whether a function ran again. */
const remembered = (memoize) => {
  let runs = 0;
  const run = memoize(() => ++runs);
  run("id");
  return () => run("id") === 1;
};
/** Each keeps an id for a time, and tells later whether it knows it. */
const CACHES = {
  "moize 6.1.7": (ms) => remembered((run) => moize(run, { maxAge: ms })),
  "memory-cache 0.2.0": (ms) => {
    const cache = new MemoryCache();
    cache.put("id", true, ms);
    return () => cache.get("id") === true;
  },
  "timed-cache 2.0.0": (ms) => {
    const cache = new TimedCache({ defaultTtl: ms });
    cache.put("id", true);
    return () => cache.get("id") === true;
  },
  "fast-memory-cache 3.0.0": (ms) => {
    const cache = new FastMemoryCache();
    cache.set("id", true, ms / 1_000);
    return () => cache.get("id") === true;
  },
  "expiry-map 2.0.0": (ms) => {
    const cache = new ExpiryMap(ms);
    cache.set("id", true);
    return () => cache.has("id");
  },
  "memoizee 0.4.17": (ms) => remembered((run) => memoizee(run, { maxAge: ms })),
  "node-cache 5.1.2": (ms) => {
    const cache = new NodeCache({ stdTTL: ms / 1_000, checkperiod: 0.1 });
    cache.set("id", true);
    return () => cache.get("id") === true;
  },
  "keyv 6.1.0": (ms) => {
    const cache = new Keyv({ ttl: ms });
    const isSet = cache.set("id", true);
    return async () => (await isSet) && (await cache.get("id")) === true;
  },
  "quick-lru 7.3.0": (ms) => {
    const cache = new QuickLru({ maxSize: 10, maxAge: ms });
    cache.set("id", true);
    return () => cache.has("id");
  },
  "@isaacs/ttlcache 2.1.5": (ms) => {
    const cache = new TTLCache({ ttl: ms });
    cache.set("id", true);
    return () => cache.has("id");
  },
  "ttl-mem-cache 4.1.0": (ms) => {
    const cache = new TtlMemCache({ ttl: ms });
    cache.set("id", true);
    return () => cache.get("id") === true;
  },
  "ttl-set 1.0.0": (ms) => {
    const cache = new TtlSet(ms);
    cache.add("id");
    return () => cache.has("id");
  },
};

console.log(`Node.js ${process.version}; half a second after an id was stored`);
const seen = {};
for (const [name, keep] of Object.entries(CACHES)) {
  seen[name] = [];
  for (const days of [1, 24, 25, 30]) {
    try {
      const isKnown = keep(days * 86_400_000);
      await sleep(500);
      seen[name].push((await isKnown()) ? "known" : "forgotten");
    } catch {
      seen[name].push("throws");
    }
  }
  console.log(`${name.padEnd(26)}1 day: ${seen[name][0]}, 24 days: ${seen[name][1]}, 25 days: ${seen[name][2]}, 30 days: ${seen[name][3]}`);
}
const forgotten = ["moize", "memory-cache", "timed-cache", "fast-memory-cache", "expiry-map"];
const expected = (name) =>
  forgotten.includes(name) ? "known,known,forgotten,forgotten" : name === "memoizee" ? "known,known,throws,throws" : "known,known,known,known";
if (Object.entries(seen).some(([name, row]) => String(row) !== expected(name.split(" ")[0]))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
node --no-warnings finding.mjs
