import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { buildProgram } from '../../src/transports/cli/program/program.ts';
import { finishAll } from '../../src/transports/cli/program/unfinished.ts';
import { fakeTerminal } from './support.ts';

const built = (wanted?: string) =>
  buildProgram(fakeTerminal(process.cwd(), {}).terminal, { code: 0 }, {}, wanted);

/** Everything a command says of itself and of what is in it. */
async function described(program: Command, name: string): Promise<string[]> {
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return [];
  await finishAll(command);
  const inside = (each: Command): string[] => [each.helpInformation(), ...each.commands.flatMap(inside)];
  return inside(command);
}

test('[CLI-1] a command line builds only what its first word needs, and that is the same as in the whole', async () => {
  const whole = await built();
  assert.ok(whole.commands.length > 40);
  for (const command of whole.commands) {
    const name = command.name();
    const part = await built(name);
    assert.deepEqual(await described(part, name), await described(whole, name), name);
    if (name !== 'completion') assert.ok(part.commands.length < 8, `${name}: ${part.commands.length}`);
  }
  for (const word of ['help', 'lokc', '--json', 'completion'])
    assert.equal((await built(word)).commands.length, whole.commands.length, word);
});
