import { test } from 'node:test';
import { checkKills, checkPeople } from './any-tree.ts';

test('[DIR-6] hundreds of trees, killed after and amid every single action', async () => {
  await checkKills(200, true);
});

test('[DIR-6] a thousand trees that people change while a pass goes on', async () => {
  await checkPeople(1000);
});
