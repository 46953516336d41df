import { test } from 'node:test';
import { checkKills, checkPeople } from './any-tree.ts';

test('[DIR-6] eighty trees, killed after and amid every single action', async () => {
  await checkKills(80, true);
});

test('[DIR-6] eight hundred trees that people change while a pass goes on', async () => {
  await checkPeople(800);
});
