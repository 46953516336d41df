import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promoteDraft } from '../../src/features/promotion/operations.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Telling } from './telling.ts';

const EDGE = { feature: 'REQ-F-2', edge: 'design→code' };

function write({ root }: Telling, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The asset is changed by a person after the commit and before the write. */
async function promoteTooLate(telling: Telling, ines: Connection): Promise<void> {
  const { store, build } = telling;
  const run = store.run.bind(store);
  store.run = async (request, decision) => {
    const outcome = await run(request, decision);
    if (request.operation === 'promote_draft') write(telling, 'src/i.ts', 'a person’s\n');
    return outcome;
  };
  const { success } = await build(ines, promoteDraft, { ...EDGE, evaluators: '1/1' });
  store.run = run;
  if (success !== false) throw new Error('the story went wrong: a person’s change was replaced');
}

/** A draft that becomes an asset, and one that comes too late. */
export async function tellOfPromotions(telling: Telling): Promise<void> {
  const { ask, connect } = telling;
  const ines = connect({ agent_id: 'ines' });
  const draft = (text: string) => write(telling, '.ai-workspace/agents/ines/drafts/src/i.ts', text);
  await ask(ines, 'claim_edge', { ...EDGE, agent_role: 'full_stack' });
  draft('one\n');
  await ask(ines, 'promote_draft', { ...EDGE, evaluators: '1/1' });
  draft('two\n');
  await promoteTooLate(telling, ines);
}
