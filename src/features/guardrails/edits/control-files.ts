/** Files that decide what an agent may do. A project's own git hooks (`.husky`) are code like any other. */
const CONTROL_FILE =
  /(?:^|\/)(?:\.claude\/settings(?:\.local)?\.json|\.codex\/(?:hooks\.json|config\.toml)|\.gemini\/settings\.json|guardrails\.ya?ml|\.git\/hooks(?:\/.*)?|\.git\/coxswain(?:\/.*)?|(?:cox|coxswain)\.(?:db|sqlite)(?:-wal|-shm|-answered)?)$/i;
const CONTROL_FOLDER = /(?:^|\/)(?:\.claude|\.codex|\.gemini|\.git\/hooks|\.git\/coxswain)\/?$/i;

/**
 * Every path that matches contains one of these: compiling the expressions above takes a hook half a
 * millisecond.
 */
const MARKS = ['.claude', '.codex', '.gemini', 'guardrails', '.git', 'cox'];

/** Does writing here, or removing everything below, change what is checked? */
export function isControlFile(path: string, tree: boolean): boolean {
  const folded = path.toLowerCase();
  if (!MARKS.some((mark) => folded.includes(mark))) return false;
  return CONTROL_FILE.test(path) || (tree && CONTROL_FOLDER.test(path));
}

export const CONTROL_FILE_PATTERN = {
  category: 'control_plane',
  operation: 'change_control_file',
  reason: 'This file decides which checks run before an agent acts.',
  instead: 'Ask a person to change it.',
} as const;
