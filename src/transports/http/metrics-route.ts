import { memoryUsage } from 'node:process';

/** Seconds; the last one is for everything that took longer. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

interface Durations {
  readonly counts: number[];
  sum_seconds: number;
}

/** A number that is read when the metrics are scraped. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type?: 'gauge' | 'counter';
  value(): number;
}

/**
 * What a Prometheus server collects. The exposition is written by hand: three kinds of samples need no
 * library.
 */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Durations>();
  readonly #gauges: Gauge[] = [
    { name: 'process_resident_memory_bytes', help: 'Resident memory.', value: () => memoryUsage.rss() },
    { name: 'process_heap_used_bytes', help: 'Used part of the heap.', value: () => memoryUsage().heapUsed },
    {
      name: 'process_cpu_seconds_total',
      help: 'User and system time spent.',
      type: 'counter',
      value: () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    },
  ];

  /** Method, route and status come from our own tables, so that no client can create new series. */
  observe(method: string, route: string, status: number, duration_ms: number): void {
    const key = `${METHODS.has(method) ? method : 'other'} ${status} ${route}`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    let durations = this.#durations.get(route);
    if (durations === undefined) {
      durations = { counts: new Array<number>(BOUNDS.length + 1).fill(0), sum_seconds: 0 };
      this.#durations.set(route, durations);
    }
    const seconds = duration_ms / 1000;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] ?? 0)) bucket += 1;
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    durations.sum_seconds += seconds;
  }

  gauge(gauge: Gauge): void {
    this.#gauges.push(gauge);
  }

  expose(): string {
    const lines = [
      '# HELP cox_http_requests_total Answered requests.',
      '# TYPE cox_http_requests_total counter',
    ];
    for (const [key, count] of this.#requests) {
      const [method, status, route = ''] = key.split(' ');
      lines.push(
        `cox_http_requests_total{method="${method}",route="${escaped(route)}",status="${status}"} ${count}`,
      );
    }
    const name = 'cox_http_request_duration_seconds';
    lines.push(`# HELP ${name} Time from the request's head to its answer.`, `# TYPE ${name} histogram`);
    for (const [route, { counts, sum_seconds }] of this.#durations) {
      const label = `route="${escaped(route)}"`;
      let total = 0;
      for (const [index, count] of counts.entries()) {
        total += count;
        lines.push(`${name}_bucket{${label},le="${BOUNDS[index] ?? '+Inf'}"} ${total}`);
      }
      lines.push(`${name}_sum{${label}} ${sum_seconds}`, `${name}_count{${label}} ${total}`);
    }
    for (const { name: gauge, help, type = 'gauge', value } of this.#gauges)
      lines.push(`# HELP ${gauge} ${help}`, `# TYPE ${gauge} ${type}`, `${gauge} ${value()}`);
    return `${lines.join('\n')}\n`;
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);

export function escaped(label: string): string {
  return label.replaceAll(/["\\\n]/g, '\\$&');
}
