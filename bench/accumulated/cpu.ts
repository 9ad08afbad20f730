/** Returns the CPU time of some work in microseconds. */
export function cpuUsOf(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}
