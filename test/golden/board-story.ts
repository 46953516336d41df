import type { JsonObject } from '../../src/kernel/json.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Telling } from './telling.ts';

const done = (claim_id: string) => ({ claim_id, type: 'Page', payload: 'done', structural_type: 'Terminal' });

/** Rejected, made anew, rejected again: then a person grants another round, which is content. */
async function tellOfRework({ ask, paul }: Telling, walt: Connection, rita: Connection): Promise<void> {
  const rejects = async (claim_id: string) =>
    await ask(rita, 'deliver_artefact', { claim_id, type: 'Review', payload: '{"title":"too long"}' });
  const redoes = async (claim_id: unknown) => {
    const work = { claim_id: String(claim_id), type: 'Text', payload: 'shorter', summary: 'cut' };
    return String(((await ask(walt, 'deliver_artefact', work)).opened as JsonObject).claim_id);
  };
  const draft = await ask(walt, 'publish_artefact', { type: 'Text', payload: 'long', summary: 'a draft' });
  const { rework_claim_id: first } = await rejects(String(draft.claim_id));
  const { approval_id } = await rejects(await redoes(first));
  const { approval } = await ask(paul, 'show_approval', { approval_id: String(approval_id) });
  const { shown_hash } = approval as JsonObject;
  const granted = await ask(paul, 'approve', {
    approval_id: String(approval_id),
    shown_hash,
    reason: 'once more',
  });
  const claim_id = await redoes(granted.rework_claim_id);
  await ask(rita, 'deliver_artefact', { claim_id, type: 'Review', payload: '{}' });
}

/** One is silent, one fails and is asked again, one comes and goes; the last word is that of a person. */
async function tellOfMishaps(
  { ask, pass }: Telling,
  [op, emma, nina]: [Connection, Connection, Connection],
): Promise<void> {
  await ask(nina, 'join_board', { role: 'Newcomer', files: ['docs/'], timeout_seconds: 60 });
  const { claim_id } = (await ask(op, 'publish_artefact', { type: 'Goal', payload: 'a page' })) as {
    claim_id: string;
  };
  await ask(nina, 'place_bid', { claim_id, bid: 'gladly' });
  pass(2);
  await ask(op, 'board_status', {});
  await ask(emma, 'take_grant', { claim_id, host: 'here', pid: 7 });
  const failure = {
    type: 'ToolExecutionFailure',
    payload: '{"reason":"exit 1"}',
    structural_type: 'Failure',
  };
  await ask(emma, 'deliver_artefact', { claim_id, ...failure });
  await ask(emma, 'deliver_artefact', { ...done(claim_id), attempt: 2 });
  await ask(emma, 'deliver_artefact', { claim_id, type: 'Page', payload: 'too late' });
  const other = (await ask(op, 'publish_artefact', { type: 'Goal', payload: 'another' })) as {
    claim_id: string;
  };
  await ask(nina, 'leave_board', {});
  await ask(op, 'terminate_claim', { claim_id: other.claim_id, reason: 'the goal has changed' });
}

/** Artefacts that are bid on, reviewed, worked on and sent back. */
export async function tellOfTheBoard(telling: Telling): Promise<void> {
  const { ask, connect } = telling;
  const come = (agent_id: string) => connect({ agent_id });
  const op = connect({ agent_id: 'op', agent_type: 'cli', session_id: 'op-1' }, 'operator');
  const [walt, rita, emma, nina] = [come('walt'), come('rita'), come('emma'), come('nina')];
  const rules = {
    bid_deadline_seconds: 60,
    max_review_iterations: 1,
    on_failure: 'retry',
    max_attempts: 2,
  };
  const writers = [
    { agent_id: 'walt', role: 'Writer', bidding: 'ignore' },
    { agent_id: 'rita', role: 'Reviewer', bidding: 'review' },
  ];
  await ask(op, 'configure_board', { ...rules, agents: writers });
  await tellOfRework(telling, walt, rita);
  const workers = [
    { agent_id: 'emma', role: 'Coder', bidding: 'exclusive', target_types: ['Goal'], on_failure: 'retry' },
    { agent_id: 'otto', role: 'Observer' },
  ];
  await ask(op, 'configure_board', { ...rules, agents: workers });
  await tellOfMishaps(telling, [op, emma, nina]);
}
