import { checkedRun, RUN_LABEL, runsLabel } from './container-names.ts';
import { type ContainerTool, callTool, saying } from './tool.ts';

/** What a client had just asked for may come into being behind our back: so it is looked at again. */
const ROUNDS_MAX = 5;

/** Ends a run's container and removes it, whoever started it. Says why it is still there; undefined: it is not. */
export async function endContainer(tool: ContainerTool, run_id: string): Promise<string | undefined> {
  const label = `${RUN_LABEL}=${checkedRun(run_id)}`;
  let said = '';
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const listed = await containersWith(tool, label);
    if ('failed' in listed) return listed.failed;
    if (listed.ids.length === 0) return undefined;
    // Killed first: `rm -f` alone asks nicely and waits ten seconds. It fails for one that does not run yet, or any more.
    await callTool(tool, ['kill', ...listed.ids]);
    const removed = await callTool(tool, ['rm', '-f', ...listed.ids]);
    if (removed.code !== 0) said = saying(removed);
  }
  return `${tool.tool} did not remove the container of ${run_id}: ${said}`;
}

/** Ends what is left of runs that nobody waits for any more. Answers their ids. */
export async function sweepContainers(
  tool: ContainerTool,
  runs: string,
  isAwaited: (run_id: string) => boolean | Promise<boolean>,
): Promise<string[]> {
  const listed = await containersWith(tool, runsLabel(runs));
  if ('failed' in listed) throw new Error(listed.failed);
  const ended: string[] = [];
  for (const run_id of await runsOf(tool, listed.ids)) {
    // Whoever can't tell throws, and nothing more is ended: another one's work is dearer than a leftover.
    if (await isAwaited(run_id)) continue;
    const left = await endContainer(tool, run_id);
    if (left === undefined) ended.push(run_id);
  }
  return ended;
}

async function containersWith(
  tool: ContainerTool,
  label: string,
): Promise<{ readonly ids: string[] } | { readonly failed: string }> {
  const listed = await callTool(tool, ['ps', '--all', '--quiet', '--no-trunc', `--filter=label=${label}`]);
  if (listed.code !== 0) return { failed: `${tool.tool} does not list its containers: ${saying(listed)}` };
  return { ids: listed.out.split('\n').filter((line) => line !== '') };
}

async function runsOf(tool: ContainerTool, ids: readonly string[]): Promise<Set<string>> {
  const runs = new Set<string>();
  for (const id of ids) {
    const format = `{{index .Config.Labels "${RUN_LABEL}"}}`;
    const { code, out } = await callTool(tool, ['container', 'inspect', `--format=${format}`, id]);
    // One that has ended by itself in the meantime is what we are after.
    if (code === 0 && out.trim() !== '') runs.add(out.trim());
  }
  return runs;
}
