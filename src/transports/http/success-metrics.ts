import { metricsOf, Tally } from '../../features/audit/index.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';

const ROWS_PER_READ = 1000;
/** The most a scrape reads; on a busy server the next one continues from there. */
const READS_MAX = 50;

/**
 * The success metrics for /metrics, counted from the log since this server started: each scrape reads the
 * rows since the last one. `cox stats` counts over any window.
 */
export class SuccessMetrics {
  readonly #coxswain: Coxswain;
  readonly #tally = new Tally();
  #position: Promise<number> | undefined;

  constructor(coxswain: Coxswain) {
    this.#coxswain = coxswain;
    this.#position = this.#end();
    // The failure is reported to the scrape that needs the position; without one it is ignored.
    this.#position.catch(() => {});
  }

  async text(): Promise<string> {
    try {
      const before = this.#position ?? this.#end();
      this.#position = before.then((position) => this.#catchUp(position));
      await this.#position;
    } catch {
      // Without the store there is nothing to count; the server's own metrics are still worth reporting.
      this.#position = undefined;
      return '';
    }
    const metrics = metricsOf(this.#tally, this.#coxswain.clock.now_ms());
    const lines = [
      '# HELP cox_success_metric What coordination should achieve, with its target; counted from the log.',
      '# TYPE cox_success_metric gauge',
    ];
    for (const { name, unit, target, value } of metrics)
      if (value !== null)
        lines.push(`cox_success_metric{name="${name}",unit="${unit}",target="${target}"} ${value}`);
    lines.push('# HELP cox_success_samples How many observations each rests on.');
    lines.push('# TYPE cox_success_samples gauge');
    for (const { name, samples } of metrics) lines.push(`cox_success_samples{name="${name}"} ${samples}`);
    return `${lines.join('\n')}\n`;
  }

  async #end(): Promise<number> {
    const { store, project } = this.#coxswain;
    return (await store.read(project, Number.MAX_SAFE_INTEGER, 1)).safe;
  }

  async #catchUp(position: number): Promise<number> {
    const { store, project } = this.#coxswain;
    let reached = position;
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const { entries } = await store.read(project, reached, ROWS_PER_READ);
      for (const entry of entries) this.#tally.add(entry);
      reached = entries.at(-1)?.position ?? reached;
      if (entries.length < ROWS_PER_READ) break;
    }
    return reached;
  }
}
