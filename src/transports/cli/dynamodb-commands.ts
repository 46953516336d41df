import type { Command } from 'commander';
import { refuse } from '../../kernel/refusal.ts';
import { refusalOf } from '../../runtime/answer.ts';
import { chooseStore } from '../../runtime/choose-store.ts';
import type { Terminal } from './output/terminal.ts';
import { type CommonOptions, conclude, declareCommon, mergedOptions, type Result } from './program/common.ts';
import { examples } from './program/services.ts';

const NEXT = `
On demand, expiry of items by \`ttl\`, point-in-time recovery. What is so already is left as it is, so it
may be run again. Nothing here deletes a table: \`aws dynamodb delete-table\` does.`;

/** A person creates the table, once. The store itself neither needs nor uses the permission to create one. */
export function declareDynamoDb(program: Command, terminal: Terminal, result: Result): void {
  const group = program
    .command('dynamodb')
    .description('The table of a store in DynamoDB: create it, or what it lacks.')
    .usage('<verb> [options]');
  const create = group
    .command('create-table')
    .description('Create the table of a store in DynamoDB, or what it lacks.')
    .argument('[url]', 'dynamodb://TABLE?region=…&endpoint=… (default: --store, COX_STORE)')
    .addHelpText('after', NEXT)
    .addHelpText(
      'after',
      examples(
        'cox dynamodb create-table "dynamodb://coxswain?region=eu-central-1"',
        'cox dynamodb create-table "dynamodb://coxswain?region=local&endpoint=http://127.0.0.1:8000"',
      ),
    )
    .action(async (url: string | undefined, _options, command: Command) => {
      const options = mergedOptions(command);
      await conclude(terminal, await created(url, options, terminal.env), options, result);
    });
  for (const command of [group, create]) declareCommon(command, 'store');
}

async function created(url: string | undefined, options: CommonOptions, env: NodeJS.ProcessEnv) {
  try {
    const chosen = url ?? chooseStore(options.store, env).url;
    if (chosen === undefined)
      return refuse(
        'invalid_input',
        'Which table? Name it, such as "dynamodb://coxswain?region=eu-central-1", or set COX_STORE.',
        { field: 'url' },
      );
    const { createTable } = await import('../../runtime/store-tools.ts');
    return { success: true, ...(await createTable(chosen)) };
  } catch (error) {
    return refusalOf(error);
  }
}
