import type { Plant } from './plants.ts';

const guarding = 'test/transports/hooks/guard.test.ts';

/** Hooks, git hooks, `cox run`: locks at the moment of the edit. */
export const enforcing: readonly Plant[] = [
  {
    name: 'run: what is held is mounted writable',
    file: 'src/child-process/mount-list.ts',
    from: "line(inOwn(path), inOwn(path), 'rbind,ro')),\n  ];\n  return {",
    to: "line(inOwn(path), inOwn(path), 'rbind')),\n  ];\n  return {",
    tests: ['test/transports/enforcement/run-protected.long.test.ts'],
  },
  {
    name: 'run: what becomes held later is left writable',
    file: 'src/transports/run/held-view.ts',
    from: 'if (!mounted.held.has(path)) await this.#view?.hold(path);',
    to: 'if (mounted.held.has(path)) await this.#view?.hold(path);',
    tests: ['test/transports/enforcement/run-protected.long.test.ts'],
  },
  {
    name: 'run: a folder above a held file can be renamed, and another put in its place',
    file: 'src/child-process/mount-list.ts',
    from: "...foldersAbove(paths).map((name) => line(name, name, 'rbind')),",
    to: '',
    tests: ['test/transports/enforcement/read-only-view.test.ts'],
  },
  {
    name: 'a held file is written all the same',
    file: 'src/transports/hooks/guard-edit.ts',
    from: "return typeof taken === 'string' ? { fresh: [], problem: taken } : { fresh: taken };",
    to: "return typeof taken === 'string' ? { fresh: [] } : { fresh: taken };",
    tests: [guarding],
  },
  {
    name: 'the end of a turn gives back what the agent asked for',
    file: 'src/features/locks/automatic-lock.ts',
    from: 'if (given === AUTOMATIC) return before;',
    to: 'if (given === AUTOMATIC) return given;',
    tests: ['test/transports/hooks/session.test.ts'],
  },
  {
    name: 'a required check that fails lets the edit pass',
    file: 'src/transports/hooks/answer-hook.ts',
    from: "if (order.locks === 'require')",
    to: "if (order.locks === 'warn')",
    tests: ['test/transports/hooks/failures.test.ts'],
  },
  {
    name: 'a quick hook reads what is long',
    file: 'src/transports/hooks/hook-main.ts',
    from: 'isQuick() && total >= QUICK_BYTES_MAX',
    to: 'isQuick() && total < 0',
    tests: ['test/transports/hooks/quick.test.ts'],
  },
  {
    name: 'a hook that was handed on takes the first for its client',
    file: 'src/transports/hooks/quick.ts',
    from: 'return Number(env[PARENT]) || starter();',
    to: 'return starter() || Number(env[PARENT]);',
    tests: ['test/transports/hooks/identity.long.test.ts'],
  },
  {
    name: 'what the log knows hides what the agent said',
    file: 'src/features/sessions/final-handoff.ts',
    from: 'unfinished(session, since_ms, loaded)',
    to: 'unfinished(session, 0, loaded)',
    tests: ['test/transports/hooks/session.test.ts'],
  },
  {
    name: 'the hooks of a client are another agent than its MCP server',
    file: 'src/child-process/client-process.ts',
    from: 'pid = facts.parent;',
    to: 'return { ...facts, pid };',
    tests: ['test/transports/enforcement/client-process.test.ts'],
  },
  {
    name: 'a commit in a locked folder passes',
    file: 'src/features/locks/held-files.ts',
    from: 'single.get(file) ?? wide.find(({ area }) => overlap(area, { place: file }))',
    to: 'single.get(file)',
    tests: ['test/transports/enforcement/git-commit.long.test.ts'],
  },
  {
    name: 'a redirection writes nothing',
    file: 'src/command-analysis/shell/analyse-shell.ts',
    from: "found.file({ ...command, name: '' }, command.outputs);",
    to: 'void 0;',
    tests: ['test/command-analysis/shell-files.test.ts'],
  },
];
