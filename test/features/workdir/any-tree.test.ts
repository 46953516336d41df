import { test } from 'node:test';
import { checkKills, checkPeople } from './any-tree.ts';

// `any-tree.long.test.ts` does many more of both.

test('[DIR-6] any tree, killed anywhere: the next pass comes to the same end, and the one after it does nothing', async () => {
  await checkKills(25, false);
});

test('[DIR-6] whatever people move and edit amid a pass: no task is lost, none is doubled, no edit is gone', async () => {
  await checkPeople(40);
});
