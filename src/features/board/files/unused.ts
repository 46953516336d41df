import type { BoardFileFindings } from './board-file-findings.ts';
import type { BoardFile } from './board-schema.ts';

const SERVICES: Readonly<Record<string, string>> = {
  redis: 'not needed: the board is kept in Coxswain’s own store',
  orchestrator: 'not needed: `cox up` is the orchestrator',
};

const ORCHESTRATOR: Readonly<Record<string, string>> = {
  image: 'not needed: `cox up` is the orchestrator',
  timestamp_drift_tolerance_ms: 'not needed: all times are those of one store',
};

const AGENT: Readonly<Record<string, string>> = {
  health_check: 'not needed: every execution is a process of its own, with a time limit',
  build: 'images are not built here; build them before',
  volumes: 'not mounted: a container sees its workspace and nothing else',
  synchronize: 'not supported: use a bid_script that looks at what there is',
};

/** Warns about settings that have an effect in Sett or Holt but not here, so that no user waits for that effect. */
export function warnOfUnused(
  { services, orchestrator, agents = {} }: BoardFile,
  findings: BoardFileFindings,
): void {
  const warnOf = (path: readonly PropertyKey[], given: object | undefined, reasons: typeof AGENT) => {
    for (const [key, reason] of Object.entries(reasons))
      if (given !== undefined && key in given && given[key as keyof typeof given] !== undefined)
        findings.warn([...path, key], reason);
  };
  if (typeof services === 'object' && services !== null)
    for (const key of Object.keys(services))
      findings.warn(['services', key], (Object.hasOwn(SERVICES, key) && SERVICES[key]) || 'not needed');
  warnOf(['orchestrator'], orchestrator, ORCHESTRATOR);
  for (const [name, agent] of Object.entries(agents)) {
    const path = ['agents', name];
    warnOf(path, agent, AGENT);
    if (agent.strategy === 'reuse')
      findings.warn([...path, 'strategy'], 'every execution is a process of its own; none is reused');
    warnOf([...path, 'resources'], agent.resources, { reservations: 'nothing is reserved; limits count' });
    warnOf([...path, 'worker'], agent.worker, { keep_containers: 'none is kept; its output is' });
  }
}
