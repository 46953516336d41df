import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CPU_MS_MAX, check, commandOf } from './guard/fuzz.ts';

const COUNT = 20_000;
const SEED = Number(process.env.COX_TEST_SEED ?? 1);

test('[GUARD-6] whatever is generated is answered, well formed and in bounded time', () => {
  for (let index = 0; index < COUNT; index += 1) {
    const { took_ms, wrong } = check(SEED, index, CPU_MS_MAX);
    const which = (): string =>
      `COX_TEST_SEED=${SEED}, command ${index}: ${JSON.stringify(commandOf(SEED, index))}`;
    assert.ok(wrong.length === 0, `${which()}: ${wrong.join('; ')}`);
    assert.ok(took_ms <= CPU_MS_MAX, `${which()}: ${took_ms} ms`);
  }
});
