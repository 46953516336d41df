import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessEdit } from '../../../src/features/guardrails/edits/index.ts';
import { harmless, tabled } from './guard-support.ts';

const STEERING = [
  ...['.git/config', '.git/config.worktree', '.git/worktrees/a/config.worktree', '.git/modules/lib/config'],
  ...['.git/hooks/pre-commit', '.git/worktrees/a/commondir', '.git/x/../config', '.git', 'bare.git/config'],
  ...['.git/coxswain/cox.db', '.coxswain/cox.db', '.coxswain/hooks.log', 'sub/cox.db-wal'],
  ...['.mcp.json', '.claude/settings.json', '.claude/settings.local.json', '.claude.json'],
  ...['.codex/hooks.json', '.codex/config.toml', '.gemini/settings.json', 'guardrails.yaml'],
  ...['dist/hook.cjs', 'dist/hook-before-0123456789ab.cjs', 'dist/hook-before-0123456789ab.quick.bin'],
  ...['node_modules/coxswain/bin/cox', '.local/state/coxswain/shells/codex-0123456789ab.sh'],
];

const ORDINARY = [
  ...['.gitignore', '.gitattributes', '.github/workflows/ci.yml', '.husky/pre-commit', '.git/info/exclude'],
  ...['.git/COMMIT_EDITMSG', '.git/MERGE_MSG', '.claude/agents/reviewer.md', '.claude/skills/x/SKILL.md'],
  ...[
    '.gemini/GEMINI.md',
    '.codex/prompts/x.md',
    'AGENTS.md',
    'dist/hook.js',
    'src/hook.cjs',
    'config',
    'shells/build.sh',
  ],
  ...['src/coxswain/index.ts', 'mcp.json', 'settings.json', 'cox.yml', 'docs/.git-config.md'],
];

test('[GUARD-1] an edit tool may not write what steers the checks, wherever it is', () => {
  const found = (path: string, folder: string) =>
    assessEdit([`${folder}/${path}`], []).map(({ operation }) => operation);
  for (const folder of ['/repo', '/h', '/repo/worktrees/b']) {
    for (const path of STEERING) assert.deepEqual(found(path, folder), ['change_control_file'], path);
    for (const path of ORDINARY) assert.deepEqual(found(path, folder), [], path);
  }
});

tabled('[GUARD-1] a shell may not write, move, delete or replace what steers the checks', [
  ["echo '[core]' >> .git/config.worktree", 'overwrite_repository change_control_file'],
  ['cp other .git/config', 'change_control_file'],
  ['mv .mcp.json old.json', 'change_control_file'],
  ['ln -sf /tmp/x .mcp.json', 'change_control_file'],
  ['sed -i s/coxswain/x/ ~/.claude.json', 'change_control_file'],
  ['jq . a > ~/.gemini/settings.json', 'change_control_file'],
  ['python3 -c \'open(".git/config", "a").write("x")\'', 'change_control_file'],
  ['rm ../other/.claude/settings*.json', 'change_control_file mass_delete'],
  ['rm .git/conf*', 'change_control_file delete_repository'],
  ['git checkout HEAD~3 -- .claude/settings.json', 'change_control_file discard_changes'],
  ['git archive -o .git/config HEAD', 'change_control_file'],
  ['cp patched.cjs node_modules/coxswain/dist/hook.cjs', 'change_control_file'],
  ['echo gitdir: /tmp/x > .git', 'overwrite_repository change_control_file'],
  ['rm -rf .coxswain', 'change_control_file recursive_delete'],
]);

tabled('[GUARD-1] the store is written by Coxswain alone, and may be read', [
  ["sqlite3 .git/coxswain/cox.db 'DELETE FROM audit WHERE seq = 3'", 'change_control_file'],
  ["sqlite3 .git/coxswain/cox.db 'SELECT 1; UPDATE x SET a = 1 WHERE b = 2'", 'change_control_file'],
  ["echo 'UPDATE x SET a = 1 WHERE b = 2' | sqlite3 .git/coxswain/cox.db", 'change_control_file'],
  ["sqlite3 'file:.git/coxswain/cox.db?mode=rw' 'INSERT INTO x VALUES (1)'", 'change_control_file'],
  [
    'sqlite3 :memory: "ATTACH \'.git/coxswain/cox.db\' AS s; INSERT INTO s.x VALUES (1)"',
    'change_control_file',
  ],
  ["sqlite3 .git/coxswain/cox.db 'PRAGMA journal_mode=delete'", 'change_control_file'],
  ['sqlite3 .git/coxswain/cox.db < fix.sql', 'change_control_file'],
  [
    'python3 -c \'import sqlite3; sqlite3.connect(".git/coxswain/cox.db").execute("INSERT INTO x DEFAULT VALUES")\'',
    'change_control_file',
  ],
  [
    'node -e \'new (require("node:sqlite").DatabaseSync)(".git/coxswain/cox.db").exec("INSERT INTO x DEFAULT VALUES")\'',
    'change_control_file',
  ],
  ["sqlite3 .git/coxswain/cox.db 'SELECT * FROM records LIMIT 3; SELECT 2'", ''],
  ["echo 'select 1' | sqlite3 -header .git/coxswain/cox.db", ''],
  ["sqlite3 .git/coxswain/cox.db .tables '.schema records' 'pragma table_info(records)'", ''],
  ["sqlite3 -readonly .git/coxswain/cox.db 'SELECT 1'", ''],
  ['python3 -c \'import sqlite3; print(sqlite3.connect(".git/coxswain/cox.db").total_changes)\'', ''],
  ['cp .git/coxswain/cox.db /tmp/copy.db', ''],
]);

tabled(
  '[GUARD-1] git’s settings are judged by what they set: what starts programs or switches hooks off waits',
  [
    ['git config core.hooksPath .husky', 'disable_hooks'],
    ['git config --global core.hookspath /tmp/none', 'disable_hooks'],
    ['git config set core.hooksPath x', 'disable_hooks'],
    ['git config --unset core.hooksPath', 'disable_hooks'],
    ['git config unset core.hooksPath', 'disable_hooks'],
    ['git config --remove-section core', 'disable_hooks'],
    ['git -c core.hooksPath=.githooks commit -m x', 'disable_hooks'],
    ['git --config-env=core.hooksPath=NONE commit -m x', 'disable_hooks'],
    ['git clone -c core.hooksPath=/tmp/h https://example.org/x', 'disable_hooks'],
    ["git config alias.x '!sh run.sh'", 'set_git_program'],
    ['git config core.fsmonitor ./watch.sh', 'set_git_program'],
    ['git config --local core.sshCommand "sh -c evil"', 'set_git_program'],
    ['git config core.sshCommand "ssh -o ProxyCommand=./x"', 'set_git_program'],
    ['git config core.editor "$EVIL"', 'set_git_program'],
    ['git config diff.external ./d.sh', 'set_git_program'],
    ['git config filter.x.clean "node f.js"', 'set_git_program'],
    ['git config --file .git/config include.path ../x', 'set_git_program'],
    ['git config --add includeIf.gitdir:/.path /tmp/x', 'set_git_program'],
    ['git config credential.helper "!cat ~/x"', 'set_git_program'],
  ],
);

tabled('[GUARD-1] what unwires the agents, or wires them anew, is for a person', [
  ['cox init', 'change_setup'],
  ['cox init --yes --locks warn', 'change_setup'],
  ['npx cox init -y', 'change_setup'],
  ['cox init --undo', 'remove_coordination'],
  ['cox git uninstall', 'remove_coordination'],
  ['cox git install --locks warn', 'change_setup'],
  ['cox git install', ''],
  ['cox init --dry-run', ''],
  ['cox init --help', ''],
  ['cox doctor', ''],
  ['npm uninstall -g coxswain', 'remove_coordination'],
  ['claude mcp remove coxswain', 'remove_coordination'],
  ['claude mcp remove other', ''],
  ['npm uninstall left-pad', ''],
]);

harmless('[GUARD-7] ordinary work with git and its settings is not disturbed', [
  'git commit -m "docs: .git/config and .mcp.json"',
  'git branch topic && git switch topic && git push -u origin topic',
  'git remote add origin git@example.org:a/b.git',
  'git remote set-url origin https://example.org/a/b.git',
  'git config user.name "A B" && git config user.email a@example.org',
  'git config --local pull.rebase true',
  'git config branch.topic.remote origin',
  'git config core.fsmonitor true',
  'git config core.autocrlf false',
  'git config core.editor "code --wait"',
  'git config core.editor true',
  'git config --global core.pager "less -FRX"',
  'git config pager.log false',
  'git config credential.helper "cache --timeout=3600"',
  "git config --global credential.https://github.com.helper '!/usr/bin/gh auth git-credential'",
  'git config core.sshCommand "ssh -i ~/.ssh/id_ed25519"',
  'git config alias.co checkout',
  'git config core.hooksPath',
  'git config --get core.sshCommand',
  'git config get core.hooksPath',
  'git config --unset alias.x',
  'git config -f .gitmodules submodule.lib.branch main',
  'git worktree add ../b && git worktree remove ../b',
  'git init && git lfs install',
  'cat .git/config .mcp.json ~/.claude.json; ls .git/coxswain',
  'grep -rn hooksPath .git/config > out.txt',
  'cp .claude/settings.json /tmp/settings.json',
  'git add .mcp.json .claude/settings.json && git diff --stat',
  'rm -rf dist && npm run build',
  'sqlite3 app.db "select count(*) from users; select 1"',
  'echo x >> .git/info/exclude',
]);
