import { checkedRun, RUN_LABEL, runsLabel } from './container-names.ts';
import { type ContainerTool, callTool, saying } from './tool.ts';

/** A client's last request may still create a container after we looked, so we look again. */
const ROUNDS_MAX = 5;

/**
 * Ends a run's container and removes it, whichever process started it. Answers why it is still there;
 * undefined: it is gone.
 */
export async function endContainer(tool: ContainerTool, run_id: string): Promise<string | undefined> {
  const label = `${RUN_LABEL}=${checkedRun(run_id)}`;
  let said = '';
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const listed = await containersWith(tool, label);
    if ('failed' in listed) return listed.failed;
    if (listed.ids.length === 0) return undefined;
    // Killed first, since `rm -f` alone sends a signal and waits ten seconds. `kill` fails if the container
    // is not running yet, or any more.
    await callTool(tool, ['kill', ...listed.ids]);
    const removed = await callTool(tool, ['rm', '-f', ...listed.ids]);
    if (removed.code !== 0) said = saying(removed);
  }
  return `${tool.tool} did not remove the container of ${run_id}: ${said}`;
}

/** Ends the containers of runs that no process waits for any more. Answers their ids. */
export async function sweepContainers(
  tool: ContainerTool,
  runs: string,
  isAwaited: (run_id: string) => boolean | Promise<boolean>,
): Promise<string[]> {
  const listed = await containersWith(tool, runsLabel(runs));
  if ('failed' in listed) throw new Error(listed.failed);
  const ended: string[] = [];
  for (const run_id of await runsOf(tool, listed.ids)) {
    // If this can't be told, `isAwaited` throws and nothing more is ended: another process's work is worth
    // more than a leftover.
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
    // A container that has ended by itself in the meantime needs no clean-up.
    if (code === 0 && out.trim() !== '') runs.add(out.trim());
  }
  return runs;
}
