import { Command, type OutputConfiguration } from 'commander';
import type { JsonObject } from '../../../kernel/json.ts';
import { version } from '../../../kernel/version.ts';
import type { Actor } from '../../../ledger/log.ts';
import { NO_STORE } from '../../../runtime/choose-store.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { AnyOperation } from '../../../runtime/operation.ts';
import { operations } from '../../../runtime/operation-list.ts';
import { type Field, fieldsOf } from '../../shared/input-fields.ts';
import { declareChoices } from '../output/choices.ts';
import type { Terminal } from '../output/terminal.ts';
import { arrange, GROUP_SUMMARIES } from './command-groups.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
  withStore,
  withStoreThere,
} from './common.ts';
import { fillFromFile } from './file-field.ts';
import { declareFields, readFields, sayInFlags } from './flags.ts';
import { neededFor } from './parts.ts';
import { isPerson, personAuthority, refusePersonsKey } from './person.ts';
import { addExamples } from './services.ts';
import { untilStopped } from './signals.ts';
import { finish, finishLater } from './unfinished.ts';

const MORE = `
All commands, in groups: cox help --all. One of them, with examples: cox help COMMAND.
`;

const EPILOGUE = `
Everywhere: --json, --store URL, --project NAME, --agent ID, --no-color, --help

Try:
  cox lock acquire src/app.ts --reason "rename the router"
  cox help lock acquire

Exit codes: 0 done, 1 refused, 2 usage, 3 awaits a person, 4 store unreachable`;

/**
 * Without `wanted`, all commands; otherwise only those needed for a command line that begins with this word. `all`: the overview
 * shows every command instead of the ten to begin with.
 */
export async function buildProgram(
  terminal: Terminal,
  result: Result,
  output: OutputConfiguration,
  wanted?: string,
  all = true,
): Promise<Command> {
  const program = new Command('cox')
    .description('Coordinates AI coding agents on one codebase: who may touch what, who does what.')
    .version(version(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Show help.')
    // main.ts treats `help` as a flag, at any depth.
    .helpCommand(false)
    .addHelpText('after', all ? EPILOGUE : `${MORE}${EPILOGUE}`)
    // A flag's value may look like another flag; only the command it belongs to parses it.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {}, ...output });
  declareCommon(program, 'identity');
  const { groups, parts } = neededFor(wanted);
  declareOperations(program, terminal, result, groups);
  for (const { load } of parts) (await load())(program, terminal, result);
  arrange(program, all);
  return program;
}

/**
 * Groups and verbs come from the declarations. A verb's flags need its schema, so they are added once the
 * verb is chosen.
 */
function declareOperations(
  program: Command,
  terminal: Terminal,
  result: Result,
  groups: Iterable<string>,
): void {
  for (const group of groups) {
    const members = operations.filter((operation) => operation.group === group);
    const command = program
      .command(group)
      .description(GROUP_SUMMARIES[group] ?? members.map(({ verb }) => verb).join(', '))
      .usage('<verb> [options]');
    declareCommon(command, 'identity');
    addExamples(
      command,
      members.slice(0, 4).map(({ examples }) => examples[0] ?? ''),
    );
    for (const operation of members) {
      const verb = command.command(operation.verb).summary(operation.summary).description(operation.summary);
      for (const word of operation.also ?? []) verb.alias(word);
      addExamples(verb, operation.examples);
      finishLater(verb, async () => {
        const schema = (await operation.input()).json;
        const fields = fieldsOf(schema);
        declareFields(verb, operation, fields);
        declareChoices(verb, schema);
        declareCommon(verb, 'identity');
        verb.action(() => runOperation(operation, fields, verb, terminal, result));
      });
    }
    command.hook('preSubcommand', async (_group, verb) => await finish(verb));
  }
}

async function runOperation(
  operation: AnyOperation,
  fields: readonly Field[],
  command: Command,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const isFlag = ({ name }: Field) => operation.positional?.includes(name) !== true;
  const options = mergedOptions(command, fields.filter(isFlag));
  const read = readFields(operation, fields, command.processedArgs, command.opts());
  const who = cliIdentity(options, terminal.env);
  const posing = read.ok ? await refusePersonsKey(operation, read.input, terminal.env) : undefined;
  let answer: JsonObject;
  const unread = read.ok ? await fillFromFile(operation, read.input, terminal) : undefined;
  if (!who.ok) answer = who.refusal;
  else if (!read.ok) answer = read.refusal;
  else if (posing !== undefined) answer = posing;
  else if (unread !== undefined) answer = unread;
  else if (operation.personal === true)
    answer = await withStoreThere(options, terminal, async (coxswain) => {
      const { performPersonally } = await import('../../../features/trust/cli/approve-command.ts');
      return await performPersonally(coxswain, terminal, operation, read.input);
    });
  else {
    const inStore = operation.mutates ? withStore : withStoreThere;
    answer = await inStore(storeFor(operation, options), terminal, async (coxswain) =>
      performOnce(
        await connectFor(operation, coxswain, who.actor, terminal, options),
        operation,
        read.input,
        terminal,
        options.json === true,
      ),
    );
  }
  const said = options.json === true ? answer : sayInFlags(answer, operation, fields);
  const about = who.ok ? { operation: operation.name, agent_id: who.actor.agent_id } : undefined;
  await conclude(terminal, said, options, result, about);
}

/** Operations that need the highest trust are done as a person, if the caller can be shown to be one. */
async function connectFor(
  { trust }: AnyOperation,
  coxswain: Coxswain,
  actor: Actor,
  terminal: Terminal,
  options: CommonOptions,
): Promise<Connection> {
  const person = trust === 4 ? await personAuthority(coxswain, terminal) : undefined;
  return person !== undefined && isPerson(person)
    ? coxswain.connect(person.actor, 'person', cliShowing(terminal.env))
    : coxswain.connect(actor, 'operator', cliShowing(terminal.env, options));
}

/**
 * An operation that this machine answers alone must not fail or wait because the configured store is away.
 */
function storeFor({ machine }: AnyOperation, options: CommonOptions): CommonOptions {
  return machine === true ? { ...options, store: NO_STORE } : options;
}

/**
 * Ctrl-C during a wait gives up the place in the queue and then ends; everything else is too short to be
 * interrupted.
 */
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
