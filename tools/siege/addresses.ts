/** Client addresses: every 127.x.y.z is an address of this machine, and a separate client for the node. */

/** Returns addresses from a separate network for each attack, so that attacks do not use up each other's limits. */
export function clientAddresses(network: number): { next(): string } {
  let count = 0;
  return {
    next() {
      count += 1;
      return `127.${network}.${(count >> 8) & 0xff}.${count & 0xff}`;
    },
  };
}
