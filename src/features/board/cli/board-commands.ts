import { type Command, CommanderError } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { declareCommon, mergedOptions, type Result } from '../../../transports/cli/program/common.ts';
import { addExamples } from '../../../transports/cli/program/services.ts';
import type { ForageOptions } from './forage.ts';
import type { UpOptions } from './up.ts';

/** The commands people use with the board. Each is loaded only when it is called. */
export function declareBoard(program: Command, terminal: Terminal, result: Result): void {
  declareUp(program, terminal, result);
  const forage = program
    .command('forage')
    .summary('Put a goal on the board, for its agents to work on.')
    .description('Put a goal on the board as its first artefact; its agents bid on it and work.')
    .argument('<goal>', 'What is wanted, in words; the contents of the artefact.')
    .option('--type <type>', 'What kind of artefact it is (default: GoalDefined)')
    .option('--wait', 'Tell what comes of it until all of it is done; the exit code says how it ended.')
    .option('--wait-seconds <n>', 'The same, but so long at most; not done by then is exit code 1.')
    .action(async (goal: string, _options, command: Command) => {
      const { forage: run } = await import('./forage.ts');
      await run(goal, mergedOptions<ForageOptions>(command), terminal, result);
    });
  declareCommon(forage, 'identity');
  addExamples(forage, [
    'cox forage "a page that shows all locks"',
    'cox forage "$(cat goal.md)" --wait-seconds 3600',
    'cox forage "0.3.0" --type ReleaseWanted --wait --json',
  ]);
  const unearth = program
    .command('unearth')
    .summary("An artefact's story: versions, sources, bids, reviews, results.")
    .description("An artefact's story: where it comes from, its versions, bids, reviews, rework and results.")
    .argument('<id>', 'Of an artefact or a claim: whole, at least 6 characters of its beginning, or its end.')
    .action(async (id: string, _options, command: Command) => {
      const { unearth: run } = await import('./unearth.ts');
      await run(id, mergedOptions(command), terminal, result);
    });
  declareCommon(unearth, 'store');
  addExamples(unearth, ['cox unearth 0192a3f4', 'cox unearth 9c41d2 --json']);
  showAlone(program, 'board', async (command) => {
    const { showBoard } = await import('./board-command.ts');
    await showBoard(mergedOptions(command), terminal, result);
  });
}

function declareUp(program: Command, terminal: Terminal, result: Result): void {
  const up = program
    .command('up')
    .summary('Run the agents of cox.yml on the board, and show what they do.')
    .description(
      'Run the agents of cox.yml (or sett.yml, holt.yml) on the board: a live view in a terminal, else a line for each piece of news. Ctrl-C ends all of it.',
    )
    .option('--config <file>', 'Another file (default: cox.yml, sett.yml or holt.yml in the repository)')
    .option('--check', 'Only look whether the file is valid, and say what would run.')
    .option('--until-idle', 'End when no claim is open: 0 all done, 1 one failed, 3 one waits for a person.')
    .option('--json', 'One JSON object for each piece of news, on a line of its own.')
    .action(async (_options, command: Command) => {
      const { up: run } = await import('./up.ts');
      await run(mergedOptions<UpOptions>(command), terminal, result);
    });
  declareCommon(up, 'store');
  addExamples(up, [
    'cox up',
    'cox up --check',
    'cox up --config ci/agents.yml --until-idle',
    'cox up --json | jq -r .text',
  ]);
}

/** A group whose name alone shows something. An unknown verb after it is still reported as a mistake. */
function showAlone(program: Command, name: string, show: (command: Command) => Promise<void>): void {
  const group = program.commands.find((command) => command.name() === name);
  if (group === undefined) throw new Error(`${name} is declared after the operations`);
  group
    .usage('[verb] [options]')
    .allowExcessArguments()
    .action(async (_options, command: Command) => {
      const [word] = command.args;
      if (word !== undefined)
        throw new CommanderError(1, 'commander.unknownCommand', `error: unknown command '${word}'`);
      await show(command);
    });
}
