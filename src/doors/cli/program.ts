import { Command, type OutputConfiguration } from 'commander';
import type { Connection } from '../../coordinator.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { version } from '../../kernel/version.ts';
import { NO_STORE } from '../../ledger/no-store.ts';
import type { AnyOperation } from '../../operation.ts';
import { operations } from '../../operations/index.ts';
import { type Field, fieldsOf } from '../fields.ts';
import { declareAudit } from './audit-commands.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
  withStore,
} from './common.ts';
import { declareFields, readFields } from './flags.ts';
import { declareServices } from './services.ts';
import { untilStopped } from './signals.ts';
import type { Terminal } from './terminal.ts';

const EXAMPLES = `
Try:
  cox lock acquire src/app.ts --reason "rename the router"
  cox lock check
  cox work submit test "run the browser tests" --priority 2
  cox work get --json

Exit codes: 0 done, 1 refused, 2 usage or invalid input, 4 store unreachable.`;

export function buildProgram(terminal: Terminal, result: Result, output: OutputConfiguration): Command {
  const program = new Command('cox')
    .description(
      'Coordinates AI coding agents on one codebase: locks, a work queue, and a log that explains everything.',
    )
    .version(version(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Show help.')
    .helpCommand('help [command]', 'Show help for a command.')
    .addHelpText('after', EXAMPLES)
    // A flag's value may look like another flag; only the command it belongs to reads it.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {}, ...output });
  declareCommon(program, 'identity');
  declareOperations(program, terminal, result);
  declareServices(program, terminal, result);
  declareAudit(program, terminal, result);
  return program;
}

/** Groups and verbs come from the declarations; a verb's flags are added once it is chosen, for they need its schema. */
function declareOperations(program: Command, terminal: Terminal, result: Result): void {
  for (const group of new Set(operations.map((operation) => operation.group))) {
    const members = operations.filter((operation) => operation.group === group);
    const command = program
      .command(group)
      .description(members.map(({ verb }) => verb).join(', '))
      .usage('<verb> [options]');
    declareCommon(command, 'identity');
    const declared = new Map<Command, (schema: JsonObject) => void>();
    for (const operation of members) {
      const verb = command.command(operation.verb).summary(operation.summary).description(operation.summary);
      verb.addHelpText(
        'after',
        `\nExamples:\n${operation.examples.map((example) => `  ${example}`).join('\n')}`,
      );
      declared.set(verb, (schema) => {
        const fields = fieldsOf(schema);
        declareFields(verb, operation, fields);
        declareCommon(verb, 'identity');
        verb.action(() => runOperation(operation, fields, verb, terminal, result));
      });
    }
    command.hook('preSubcommand', async (_group, verb) => {
      const operation = members.find((member) => member.verb === verb.name());
      if (operation !== undefined) declared.get(verb)?.((await operation.input()).json);
    });
  }
}

async function runOperation(
  operation: AnyOperation,
  fields: readonly Field[],
  command: Command,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const options = mergedOptions(command, fields);
  const read = readFields(operation, fields, command.processedArgs, command.opts());
  const who = cliIdentity(options, terminal.env);
  let answer: JsonObject;
  if (!who.ok) answer = who.refusal;
  else if (!read.ok) answer = read.refusal;
  else
    answer = await withStore(storeFor(operation, options), terminal, (coxswain) =>
      performOnce(
        coxswain.connect(who.actor, 'operator', cliShowing(terminal.env)),
        operation,
        read.input,
        terminal,
        options.json === true,
      ),
    );
  await conclude(terminal, answer, options, result);
}

/** What this machine answers alone must not fail, or wait, because the configured store is away. */
function storeFor({ machine }: AnyOperation, options: CommonOptions): CommonOptions {
  return machine === true ? { ...options, store: NO_STORE } : options;
}

/** Ctrl-C during a wait gives up the place in line and then ends; everything else is too short to be interrupted. */
async function performOnce(
  connection: Connection,
  operation: AnyOperation,
  input: JsonObject,
  terminal: Terminal,
  silent: boolean,
): Promise<JsonObject> {
  if (operation.waits === undefined || !(Number(input[operation.waits]) > 0))
    return await connection.perform(operation, input);
  const stopped = untilStopped();
  const gone = new AbortController();
  void stopped.signal.then(() => gone.abort());
  const onWaiting = ({ message, position }: JsonObject) => {
    const line = typeof position === 'number' ? ` You are number ${position} in line.` : '';
    if (!silent) void terminal.err(`cox: waiting: ${message}${line}\n`).catch(() => {});
  };
  try {
    return await connection.perform(operation, input, { signal: gone.signal, onWaiting });
  } finally {
    stopped.dispose();
  }
}
