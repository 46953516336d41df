import type { Plant } from './plants.ts';

const guarding = 'test/hooks/guard.test.ts';

/** Hooks, git hooks, `cox run`: locks at the moment of the edit. */
export const enforcing: readonly Plant[] = [
  {
    name: 'a held file is written all the same',
    file: 'src/doors/hooks/guard.ts',
    from: "return typeof taken === 'string' ? { fresh: [], problem: taken } : { fresh: taken };",
    to: "return typeof taken === 'string' ? { fresh: [] } : { fresh: taken };",
    tests: [guarding],
  },
  {
    name: 'the end of a turn gives back what the agent asked for',
    file: 'src/domain/locks/automatic.ts',
    from: 'if (given === AUTOMATIC) return before;',
    to: 'if (given === AUTOMATIC) return given;',
    tests: ['test/hooks/session.test.ts'],
  },
  {
    name: 'a required check that fails lets the edit pass',
    file: 'src/doors/hooks/hook.ts',
    from: "if (order.locks === 'require')",
    to: "if (order.locks === 'warn')",
    tests: ['test/hooks/failures.test.ts'],
  },
  {
    name: 'a quick hook reads what is long',
    file: 'src/doors/hooks/main.ts',
    from: 'isQuick() && total >= QUICK_BYTES_MAX',
    to: 'isQuick() && total < 0',
    tests: ['test/hooks/quick.test.ts'],
  },
  {
    name: 'a hook that was handed on takes the first for its client',
    file: 'src/doors/hooks/quick.ts',
    from: 'return Number(env[PARENT]) || process.ppid;',
    to: 'return process.ppid || Number(env[PARENT]);',
    tests: ['test/hooks/identity.long.test.ts'],
  },
  {
    name: 'what the log knows hides what the agent said',
    file: 'src/domain/handoffs/final-handoff.ts',
    from: 'unfinished(session, since_ms, loaded)',
    to: 'unfinished(session, 0, loaded)',
    tests: ['test/hooks/session.test.ts'],
  },
  {
    name: 'the hooks of a client are another agent than its MCP server',
    file: 'src/doors/enforce/client-process.ts',
    from: 'pid = facts.parent;',
    to: 'return { ...facts, pid };',
    tests: ['test/enforce/client-process.test.ts'],
  },
  {
    name: 'a commit in a locked folder passes',
    file: 'src/domain/locks/held-files.ts',
    from: 'single.get(file) ?? wide.find(({ area }) => overlap(area, { place: file }))',
    to: 'single.get(file)',
    tests: ['test/enforce/git-commit.long.test.ts'],
  },
  {
    name: 'a redirection writes nothing',
    file: 'src/policy/shell/index.ts',
    from: "found.file({ ...command, name: '' }, command.outputs);",
    to: 'void 0;',
    tests: ['test/policy/shell-files.test.ts'],
  },
];
