import { after } from 'node:test';
import { testDatabase } from '../support/postgres.ts';
import { playAll } from './stage.ts';
import { scratch } from './support.ts';

// Each door has a database of its own, as each has a file of its own elsewhere.
const databases = await Promise.all(Array.from({ length: 4 }, () => testDatabase({ migrated: true })));
const left = [...databases];

playAll('PostgreSQL', () => {
  const database = left.pop();
  if (database === undefined) throw new Error('there are more doors than databases');
  return { ...scratch(), store: database.url };
});

after(async () => {
  for (const { drop } of databases) await drop();
});
