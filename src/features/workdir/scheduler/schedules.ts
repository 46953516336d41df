import { stringify } from 'yaml';

/** What a scheduler runs, and where. */
export interface Scheduled {
  readonly node: string;
  readonly cox: string;
  /** The repository, or the folder that contains the work directory. */
  readonly top: string;
  readonly root: string;
  /** Arguments after `coordinate DIR`. */
  readonly flags: readonly string[];
}

const EVERY_MINUTES = 5;

/** One word for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Marks the line, so that it can be found and replaced. */
export function cronMark(root: string): string {
  return `# cox coordinate ${root}`;
}

/** A line of a crontab, where an unescaped percent sign would end the command. */
export function cronLine({ node, cox, top, root, flags }: Scheduled, log: string): string {
  const words = [node, cox, 'coordinate', root, ...flags].map(shellWord).join(' ');
  const command = `cd ${shellWord(top)} && ${words} >>${shellWord(log)} 2>&1 ${cronMark(root)}`;
  return `*/${EVERY_MINUTES} * * * * ${command.replaceAll('%', '\\%')}\n`;
}

/** In systemd units, `%` and `$` are special everywhere, quotes and backslashes in commands. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%');
}

function unitWord(text: string): string {
  const escaped = unitText(text).replaceAll('$', '$$$$').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${escaped}"`;
}

export function systemdService({ node, cox, top, root, flags }: Scheduled): string {
  const words = [node, cox, 'coordinate', root, ...flags].map(unitWord).join(' ');
  return `[Unit]
Description=Coxswain: a pass over ${unitText(root)}

[Service]
Type=oneshot
WorkingDirectory=${unitText(top)}
ExecStart=${words}
# 3: a task waits for a person. That is an answer, no failure of the pass.
SuccessExitStatus=3
`;
}

export function systemdTimer(root: string): string {
  return `[Unit]
Description=Coxswain: a pass over ${unitText(root)} every ${EVERY_MINUTES} minutes

[Timer]
OnCalendar=*:0/${EVERY_MINUTES}
Persistent=true

[Install]
WantedBy=timers.target
`;
}

/**
 * Where a CI machine gets `cox` from: a folder of the repository, a git address, or anything else that `npm
 * install` takes.
 */
export type Source = { readonly kind: 'folder' | 'git' | 'npm'; readonly spec: string };

const INSTALLS: Record<Source['kind'], string> = {
  folder: `npm ci --omit=dev --prefix "$COX_SOURCE"
echo "$PWD/$COX_SOURCE/bin" >> "$GITHUB_PATH"
`,
  git: `git clone --quiet "\${COX_SOURCE%%#*}" "$RUNNER_TEMP/coxswain"
git -C "$RUNNER_TEMP/coxswain" checkout --quiet --detach "\${COX_SOURCE##*#}"
npm ci --omit=dev --prefix "$RUNNER_TEMP/coxswain"
echo "$RUNNER_TEMP/coxswain/bin" >> "$GITHUB_PATH"
`,
  npm: `npm install --global --prefix "$RUNNER_TEMP/coxswain" "$COX_SOURCE"
echo "$RUNNER_TEMP/coxswain/bin" >> "$GITHUB_PATH"
`,
};

const RUN = `code=0
cox coordinate "$WORK_ROOT" --commit --push || code=$?
if [ "$code" -eq 3 ]; then
  echo "::warning::A task waits for a person; AGENT_STATUS.md says which."
elif [ "$code" -ne 0 ]; then
  exit "$code"
fi
`;

/** `root`: from the top of the repository. `stored`: the address of the store is a secret of the repository. */
export function githubWorkflow(root: string, source: Source, stored = false): string {
  const env = { WORK_ROOT: root, ...(stored ? { COX_STORE: '$' + '{{ secrets.COX_STORE }}' } : {}) };
  const workflow = {
    name: 'Coordinate',
    on: { schedule: [{ cron: `*/${EVERY_MINUTES} * * * *` }], workflow_dispatch: {} },
    permissions: { contents: 'write' },
    concurrency: { group: 'cox-coordinate', 'cancel-in-progress': false },
    jobs: {
      coordinate: {
        'runs-on': 'ubuntu-latest',
        'timeout-minutes': 10,
        steps: [
          { uses: 'actions/checkout@v4' },
          { uses: 'actions/setup-node@v4', with: { 'node-version': 24 } },
          { name: 'Install Coxswain', env: { COX_SOURCE: source.spec }, run: INSTALLS[source.kind] },
          { name: 'One pass, committed and pushed', env, run: RUN },
        ],
      },
    },
  };
  const head = '# Written by `cox coordinate --install github`. Runs on the default branch only.\n';
  return `${head}${stringify(workflow, { lineWidth: 0 })}`;
}
