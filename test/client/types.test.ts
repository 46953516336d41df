// Most of this file is checked by the compiler: `tsc` fails when a method takes or answers something else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, connect, type Refusal } from '../../src/index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(proof: T, what: string): void => assert.ok(proof, what);

type Input<M extends keyof Client> = Client[M] extends (input: infer I, ...rest: never) => unknown
  ? I
  : never;
type Answer<M extends keyof Client> = Client[M] extends (...args: never) => Promise<infer A> ? A : never;

test('client: inputs are typed by the declarations', () => {
  holds<'file_path' extends keyof NonNullable<Input<'acquireLock'>> ? true : false>(true, 'a field is there');
  holds<'file_pth' extends keyof NonNullable<Input<'acquireLock'>> ? false : true>(
    true,
    'a wrong one is not',
  );
  holds<{ task_type: string } extends Input<'submitWork'> ? false : true>(
    true,
    'what has no default is needed',
  );
  holds<{ task_type: 't'; task_description: 'd' } extends Input<'submitWork'> ? true : false>(
    true,
    'and no more',
  );
  holds<Same<Input<'submitWork'>['priority'], number | undefined>>(
    true,
    'what has a default may be left out',
  );
  holds<Same<Input<'submitWork'>['on_dependency_failure'], 'block' | 'skip' | 'run' | undefined>>(
    true,
    'words',
  );
  holds<Same<NonNullable<Input<'submitWorkBatch'>['tasks'][number]['depends_on']>, string[]>>(
    true,
    'inner ones',
  );
  holds<[] extends Parameters<Client['getWork']> ? true : false>(
    true,
    'nothing is needed, so nothing is given',
  );
  holds<[] extends Parameters<Client['showWork']> ? false : true>(true, 'something is needed');
});

test('client: answers are told apart by success', async () => {
  holds<Same<Extract<Answer<'getWork'>, { success: false }>, Refusal>>(true, 'a refusal');
  holds<Same<Extract<Answer<'getWork'>, { success: true }>['fencing_token'], number>>(true, 'an answer');
  holds<Same<Extract<Answer<'checkLocks'>, { success: true }>['locks'][number]['locked_by'], string>>(
    true,
    'inner',
  );
  await using client = await connect({ store: 'memory:', agent_id: 'alice' });
  const lock = await client.acquireLock({ file_path: 'a.ts' });
  if (!lock.success) assert.fail(lock.message);
  const token: number | undefined = lock.fencing_token;
  assert.equal(typeof token, 'number');
  const none = await client.getWork();
  assert.equal(none.success, false);
  if (!none.success) assert.match(none.remedy, /submit work/);
});
