import { test } from 'node:test';
import { checkMirrors } from './any-mirror.ts';

test('[DIR-6] a mirror says what the tree says, over a thousand mixtures', () => checkMirrors(1000));
