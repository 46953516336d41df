import { join } from 'node:path';
import { sha256 } from '../../../kernel/hash.ts';
import { shellWord } from '../../../kernel/shell-word.ts';
import type { Client } from '../../shared/agent-clients.ts';
import type { Part } from './setup-parts.ts';
import type { Wiring } from './wiring.ts';

/**
 * What a client starts its shell commands with, so that the kernel keeps what other agents hold read-only for them. It is in the
 * user's state folder and not in this package: if the package is removed or moved, the client's commands still run, unprotected.
 */
export interface Launcher {
  readonly path: string;
  readonly parts: readonly Part[];
  readonly local: false;
  readonly mode: number;
}

const OURS = /\/shells\/(?:claude-code|codex)-[0-9a-f]{12}\.sh$/;

export function isOurLauncher(path: unknown): boolean {
  return typeof path === 'string' && OURS.test(path);
}

/** `repository`: each has a launcher of its own, which is taken away with its other files. */
export function launcherFor(
  client: 'claude-code' | 'codex',
  folder: string,
  repository: string,
  wiring: Wiring,
): Launcher {
  const text = client === 'codex' ? codexLauncher(wiring) : claudeLauncher(wiring);
  const name = `${client}-${sha256(`${repository}\n${text}`).slice(0, 12)}.sh`;
  return { path: join(folder, 'shells', name), parts: [{ kind: 'file', text }], local: false, mode: 0o755 };
}

/**
 * Its answer is shell text that replaces the shell by the protected command; none where that can't be. The process that answers stays
 * until the command ends, beside it, and sees to what becomes held or free meanwhile.
 */
function askFor(client: Client, { programs, store }: Wiring): string {
  const words = [programs.node, programs.hook, client, 'shell-view'].map(shellWord);
  const more = store === undefined ? '' : ` --store ${shellWord(store)}`;
  return `if [ "\${COX_PROTECT_SHELLS-}" != off ] && [ -x ${words[0]} ] && [ -r ${words[1]} ] && _cox=$(mktemp -d "\${TMPDIR:-/tmp}/cox-shell-XXXXXX" 2>/dev/null) && mkfifo "$_cox/input" "$_cox/output" 2>/dev/null; then
  _cox_view=$( (exec setsid ${words.join(' ')} "$PPID" $$ "$_cox"${more} </dev/null 2>/dev/null) & )
  eval "$_cox_view"
  rm -rf "$_cox"
fi`;
}

/**
 * Claude Code gives the whole command as one word, also for hooks and MCP servers. Those are the user's own programs; it says so in
 * AI_AGENT, and older versions set CLAUDE_PROJECT_DIR for them alone. They run in the shell in which they would have run.
 */
function claudeLauncher(wiring: Wiring): string {
  return `#!/bin/sh
# Written by \`cox init\`; \`cox init --undo\` takes it away. Claude Code starts its shell commands with it
# (CLAUDE_CODE_SHELL_PREFIX), so that files which other agents hold are read-only for them.
case \${AI_AGENT-} in
  *_agent) own= ;;
  *_harness) own=1 ;;
  *) own=\${CLAUDE_PROJECT_DIR-} ;;
esac
if [ -n "$own" ]; then
  # An MCP server is one program: its process is the one that Claude Code has started.
  [ "$own" = 1 ] && [ -z "\${CLAUDE_CODE_CHILD_SESSION-}" ] && exec /bin/sh -c "exec $1"
  read -r parent <"/proc/$PPID/comm"
  case $parent in
    bash) exec bash -c "$1" ;;
    *) exec /bin/sh -c "$1" ;;
  esac
fi
set -- "\${SHELL:-/bin/sh}" -c "$1"
${wiring.locks === 'warn' ? '' : `${askFor('claude-code', wiring)}\n`}exec "$@"
`;
}

/** Bash reads it before the command it was started with (BASH_ENV), and is replaced by one that reads it no more. */
function codexLauncher(wiring: Wiring): string {
  return `# Written by \`cox init\`; \`cox init --undo\` takes it away. Codex has bash read it before a shell command (BASH_ENV),
# so that files which other agents hold are read-only for the command.
unset BASH_ENV
_cox_run() {
  if shopt -q login_shell; then set -- "$BASH" -l -c "$BASH_EXECUTION_STRING" "$@"; else set -- "$BASH" -c "$BASH_EXECUTION_STRING" "$@"; fi
  local _cox _cox_view
  ${askFor('codex', wiring).replaceAll('\n', '\n  ')}
}
${wiring.locks === 'warn' ? '' : `if [ "$-" = hBc ]; then _cox_run "$0" "$@"; fi\n`}unset -f _cox_run
`;
}
