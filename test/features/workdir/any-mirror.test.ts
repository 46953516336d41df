import { test } from 'node:test';
import { checkMirrors } from './any-mirror.ts';

test('[DIR-6] after people, passes, deletions and kills in any order a quiet pass leaves a mirror that says what the tree says', () =>
  checkMirrors(60));
