import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import { housekeeperOf } from '../../../runtime/housekeeper.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { unknownArtefact } from '../publish-artefact.ts';
import { storyOf } from '../runner/artefact-story.ts';
import { findArtefact } from '../runner/find-artefact.ts';
import { settleIfDue } from '../runner/settle-quietly.ts';
import { storyLines } from './unearth-screen.ts';

export async function unearth(
  given: string,
  options: CommonOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  let now_ms = 0;
  const answer: JsonObject = await withStoreThere(options, terminal, async (coxswain) => {
    await settleIfDue(coxswain, housekeeperOf(coxswain));
    const id = await findArtefact(coxswain, given);
    if (typeof id !== 'string') return id;
    const story = await storyOf(coxswain, id);
    ({ now_ms } = await coxswain.store.find(coxswain.project, {}));
    return story === undefined ? unknownArtefact(id) : { success: true, ...story };
  });
  if (options.json === true || isRefusal(answer)) return await conclude(terminal, answer, options, result);
  const view = viewOf(terminal, { color: options.color, now_ms });
  await terminal.out(`${storyLines(answer, view).join('\n')}\n`);
}
