import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { NetworkSettings } from '../judge-network.ts';
import { readAttempt } from './network-target.ts';

/** `NETWORK_DEFAULT_POLICY` and `COORDINATION_API_URL`; what is wrong with them is said when it is needed. */
export function networkSettings(env: NodeJS.ProcessEnv): NetworkSettings | Refusal {
  const fallback = env.NETWORK_DEFAULT_POLICY || 'deny';
  if (fallback !== 'allow' && fallback !== 'deny') return wrong('NETWORK_DEFAULT_POLICY', 'allow or deny');
  const url = env.COORDINATION_API_URL || undefined;
  if (url === undefined) return { default: fallback, coordination: [] };
  const { target } = readAttempt(url);
  if (target === undefined) return wrong('COORDINATION_API_URL', 'a URL such as https://coord.example.com');
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  return { default: fallback, coordination: [`${host}:${target.port}`] };
}

function wrong(variable: string, expected: string): Refusal {
  return refuse('invalid_input', `${variable}: expected ${expected}`, { field: variable, expected });
}
