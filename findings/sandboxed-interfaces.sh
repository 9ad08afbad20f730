#!/usr/bin/env bash
# The addresses of a machine, read in a sandbox without netlink sockets, such as a unit of systemd with
# RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
#
# One would guess: a program that opens only TCP connections needs these three families, and os.networkInterfaces returns an empty list
# otherwise. Packages that look for the own address return none.
# What happens: os.networkInterfaces throws, because it opens a netlink socket. So do ip and address. libp2p listens, and throws when it is
# asked for its addresses; systeminformation throws outside of its promise, which no caller can catch. and macaddress work.
# Whom it hurts: peer-to-peer nodes and services that run hardened: they work in a shell and in tests, and fail as a service. Add AF_NETLINK.
# Needs Linux and python3, which installs the filter of system calls.
# Versions: see below; found on 2026-11-29 with version 20 and 24 of Node.js.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts ip@2.0.1 address@2.0.3 macaddress@0.5.4 \
  systeminformation@5.33.0 @libp2p/tcp@11.0.10
cat > sandbox.py <<'PY'
import ctypes, os, platform, struct, sys

# Refuses sockets of the family 16, netlink, with EAFNOSUPPORT.
call = {"x86_64": 41, "aarch64": 198}[platform.machine()]
steps = [(0x20, 0, 0, 0), (0x15, 0, 3, call), (0x20, 0, 0, 16), (0x15, 0, 1, 16), (0x06, 0, 0, 0x00050000 | 97), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)), 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
PY
cat > call.mjs <<'JS'
import { networkInterfaces } from "node:os";

const CALLS = {
  "os.networkInterfaces": () => networkInterfaces(),
  ip: async () => (await import("ip")).default.address(),
  address: async () => (await import("address")).ip(),
  macaddress: async () => (await import("macaddress")).default.one(),
  systeminformation: async () => (await import("systeminformation")).default.networkInterfaces(),
  async "@libp2p/tcp"() {
    const { tcp } = await import("@libp2p/tcp");
    const { multiaddr } = await import("@multiformats/multiaddr");
    const { defaultLogger } = await import("@libp2p/logger");
    const listener = tcp()({ logger: defaultLogger() }).createListener({ upgrader: {} });
    await listener.listen(multiaddr("/ip4/0.0.0.0/tcp/0"));
    try {
      return listener.getAddrs();
    } finally {
      await listener.close();
    }
  },
};
try {
  await CALLS[process.argv[2]]();
  console.log("works");
} catch (error) {
  console.log(`throws ${error.code}`);
}
process.exit(0);
JS
echo "Node.js $(node --version), Linux $(uname -m)"
seen=""
for name in os.networkInterfaces ip address macaddress systeminformation @libp2p/tcp; do
  free=$(node call.mjs "$name" 2> /dev/null || echo "ends the process")
  sandboxed=$(python3 sandbox.py node call.mjs "$name" 2> /dev/null || echo "ends the process")
  printf "%-22s %-8s in the sandbox: %s\n" "$name" "$free" "$sandboxed"
  seen="$seen$free/$sandboxed "
done
expected="works/throws ERR_SYSTEM_ERROR "
expected="$expected$expected${expected}works/works works/ends the process $expected"
[ "$seen" = "$expected" ] || { echo "The behaviour has changed."; exit 1; }
