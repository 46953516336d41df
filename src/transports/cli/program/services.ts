import { type Command, Option } from 'commander';
import type { ProxyCommandOptions } from '../../../features/network/cli/index.ts';
import type { StatsOptions } from '../../../features/overview/cli/index.ts';
import type { ServeOptions } from '../../http/serve-command.ts';
import type { McpOptions } from '../../mcp/mcp-command.ts';
import { CLIENTS } from '../../shared/agent-clients.ts';
import type { Terminal } from '../output/terminal.ts';
import { conclude, declareCommon, mergedOptions, type Result } from './common.ts';

const SERVICES = ['status', 'serve', 'mcp', 'stats'] as const;

/** The commands that are not operations; each is loaded only when used. */
export function declareServices(program: Command, terminal: Terminal, result: Result): void {
  const [status, serve, mcp, stats] = SERVICES.map((name) => program.command(name));
  status
    ?.description('One screen: who does what, what is stuck, what needs you.')
    .addHelpText('after', examples('cox status', 'cox status --json'))
    .action(async (_options, command: Command) => {
      const options = mergedOptions(command);
      const { showStatus } = await import('../../../features/overview/cli/status-command.ts');
      await showStatus(options, terminal, result);
    });
  serve
    ?.description('Serve the HTTP API.')
    .option('--host <host>', 'Where to listen (default: API_HOST, else 127.0.0.1)')
    .option('--port <port>', 'The port, 0 for a free one (default: API_PORT, else 8081)')
    .option('--allow-host <name...>', 'A name clients reach it under (default: API_ALLOWED_HOSTS)')
    .addHelpText('after', examples('cox serve', 'cox serve --port 0 --store sqlite:shared.db'))
    .action(async (_options, command: Command) => {
      const options = mergedOptions<ServeOptions>(command);
      const { serve: run } = await import('../../http/serve-command.ts');
      const refusal = await run(options, terminal);
      if (refusal !== undefined) await conclude(terminal, refusal, options, result);
    });
  mcp
    ?.description('Serve MCP over stdio to one agent client.')
    .option('--tools <set>', 'standard, all, or groups such as lock,work (default: standard)')
    .addOption(
      new Option('--client <name>', 'The client that starts it: one agent with its hooks.').choices(CLIENTS),
    )
    .addHelpText('after', examples('claude mcp add coxswain -- cox mcp', 'cox mcp --tools all'))
    .action(async (_options, command: Command) => {
      const options = mergedOptions<McpOptions>(command);
      const { serveStdio } = await import('../../mcp/mcp-command.ts');
      const refusal = await serveStdio(options, terminal);
      // Stdout belongs to the protocol, whatever --json says.
      if (refusal !== undefined) await conclude(terminal, refusal, { json: false }, result);
    });
  stats
    ?.summary('The success metrics with their targets, of the last 24 hours.')
    .description('The success metrics with their targets, counted from the log of the last 24 hours.')
    .option('--since <time>', 'Count from then on instead, such as 2h or 2026-03-01T00:00:00Z.')
    .addHelpText('after', examples('cox stats', 'cox stats --since 2h --json'))
    .action(async (_options, command: Command) => {
      const options = mergedOptions<StatsOptions>(command);
      const { showStats } = await import('../../../features/overview/cli/stats-command.ts');
      await conclude(terminal, await showStats(options, terminal), options, result);
    });
  for (const command of [status, mcp, stats]) if (command !== undefined) declareCommon(command, 'identity');
  if (serve !== undefined) declareCommon(serve, 'store');
}

/** Its own two flags say for which agent it runs; unlike elsewhere, the environment does not. */
export function declareProxy(program: Command, terminal: Terminal, result: Result): void {
  const proxy = program
    .command('proxy')
    .description('A forward proxy that enforces the network policies.')
    .option('--host <host>', 'Where to listen (default: 127.0.0.1)')
    .option('--port <port>', 'The port, 0 for a free one (default: 0)')
    .option('--agent <id>', 'For this one agent, without a key (default: whoever shows an API key)')
    .option('--agent-type <type>', 'What kind of agent that is')
    .option('--hosts-file <file>', 'Names and addresses that count before those of the system')
    .addHelpText(
      'after',
      examples('cox proxy --agent alice --agent-type codex_cloud', 'cox proxy --port 3128'),
    )
    .action(async (_options, command: Command) => {
      const options = mergedOptions<ProxyCommandOptions>(command);
      const { serveProxy } = await import('../../../features/network/cli/proxy-command.ts');
      const refusal = await serveProxy(options, terminal);
      if (refusal !== undefined) await conclude(terminal, refusal, options, result);
    });
  declareCommon(proxy, 'store');
}

export function addExamples(command: Command, lines: readonly string[]): void {
  command.addHelpText('after', examples(...lines));
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
