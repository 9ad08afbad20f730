/** How many connections are accepted (p2p.md 6.1, 4). */
import { subnetOf } from "../addresses.ts";

export type AdmissionLimits = {
  perSubnet: number;
  total: number;
};

export type Admission = {
  /** Whether there is room for a connection of this address, which then counts until it leaves. */
  enter(address: string): boolean;
  leave(address: string): void;
};

export function createAdmission({ perSubnet, total }: AdmissionLimits): Admission {
  const bySubnet = new Map<string, number>();
  let all = 0;

  return {
    enter(address) {
      const subnet = subnetOf(address);
      const count = bySubnet.get(subnet) ?? 0;
      if (all >= total || count >= perSubnet) return false;
      bySubnet.set(subnet, count + 1);
      all++;
      return true;
    },
    leave(address) {
      const subnet = subnetOf(address);
      const count = (bySubnet.get(subnet) ?? 1) - 1;
      if (count === 0) bySubnet.delete(subnet);
      else bySubnet.set(subnet, count);
      all--;
    },
  };
}
