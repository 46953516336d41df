import { posix } from 'node:path';
import { globMatches } from '../../../kernel/glob.ts';

/**
 * Files that decide what an agent may do: what git runs by itself, what the clients are told to start, our hook program, what starts
 * their shell commands, our store and a project's guardrails. A project's own git hooks (`.husky`) are code like any other, and
 * `.git/info/exclude` is no more than a `.gitignore`.
 */
const CONTROL_FILE = new RegExp(
  `(?:^|/)(?:${[
    String.raw`[^/]*\.git/(?:(?:modules|worktrees)/.+/)?(?:config(?:\.worktree)?(?:\.lock)?|commondir|gitdir|hooks(?:/.*)?)`,
    String.raw`[^/]*\.git/coxswain(?:/.*)?`,
    String.raw`\.coxswain(?:/.*)?`,
    String.raw`(?:cox|coxswain)\.(?:db|sqlite)(?:-wal|-shm|-answered)?`,
    String.raw`guardrails\.ya?ml`,
    String.raw`\.claude/settings(?:\.local)?\.json|\.claude\.json|\.mcp\.json`,
    String.raw`\.codex/(?:hooks\.json|config\.toml)`,
    String.raw`\.gemini/settings\.json`,
    String.raw`dist/hook(?:-\w+-[0-9a-f]{12})?\.(?:cjs|bin|quick\.bin)`,
    String.raw`shells/(?:claude-code|codex)-[0-9a-f]{12}\.sh`,
    'node_modules/coxswain/.*',
  ].join('|')})$`,
  'i',
);
const CONTROL_FOLDER =
  /(?:^|\/)(?:\.claude|\.codex|\.gemini|[^/]*\.git\/(?:hooks|coxswain)|\.coxswain|node_modules\/coxswain)\/?$/i;
/** In a worktree a file, which says where the repository is. To remove the folder is another danger. */
const GIT_FILE = /(?:^|\/)\.git$/i;

/**
 * Every path that matches contains one of these: compiling the expressions above takes a hook half a
 * millisecond.
 */
const MARKS = [
  '.claude',
  '.codex',
  '.gemini',
  '.mcp.json',
  'guardrails',
  '.git',
  'cox',
  'dist/hook',
  'shells/',
];

/** What a pattern is tried on. */
const SAMPLES = [
  ...['.git/config', '.git/hooks/pre-commit', '.git/coxswain/cox.db', '.coxswain/cox.db', '.mcp.json'],
  ...['.claude/settings.json', '.claude/settings.local.json', '.codex/hooks.json', '.codex/config.toml'],
  '.gemini/settings.json',
];

/** Does writing here, or (`tree`) removing everything below, change what is checked? */
export function isControlFile(path: string, tree: boolean): boolean {
  const folded = path.toLowerCase();
  if (!MARKS.some((mark) => folded.includes(mark))) return false;
  // `.git/x/../config`
  const meant = path.includes('/.') || path.includes('//') ? posix.normalize(path) : path;
  return CONTROL_FILE.test(meant) || (tree ? CONTROL_FOLDER : GIT_FILE).test(meant);
}

/** The same for a pattern of the shell, in which a star stands for no dot at the beginning of a name. */
export function mayBeControlFile(pattern: string): boolean {
  if (!pattern.includes('.')) return false;
  const segments = pattern.split('/');
  return SAMPLES.some((sample) => {
    const names = sample.split('/');
    const end = segments.slice(-names.length);
    if (end.length < names.length) return false;
    return names.every((name, index) => {
      const segment = end[index] ?? '';
      return (!name.startsWith('.') || segment.startsWith('.')) && globMatches(segment, name);
    });
  });
}

export const CONTROL_FILE_PATTERN = {
  category: 'control_plane',
  operation: 'change_control_file',
  reason: 'This file decides which checks run before an agent acts.',
  instead: 'Ask a person to change it.',
} as const;
