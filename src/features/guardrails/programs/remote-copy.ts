import { readCommands, writesOf } from '../../../command-analysis/shell/analyse-shell.ts';
import { SSH_TAKES } from '../../../command-analysis/shell/elsewhere.ts';
import { afterOptions } from '../../../command-analysis/shell/program-options.ts';
import { textSeen, type Word } from '../../../command-analysis/shell/word.ts';
import { namesProduction, namesTrial } from '../environment-names.ts';
import { isMachineFile } from '../known-places.ts';
import { type Check, type Hit, isRehearsal, type Run, readOptions, theme } from '../pattern.ts';
import { KUBE_TAKES } from './cloud.ts';
import { RSYNC_TAKES } from './deletion.ts';

const PATTERNS = {
  'remote-overwrite': {
    category: 'production_deployment',
    operation: 'overwrite_remote_file',
    reason: 'A file that a server runs from is replaced, and nothing here brings the old one back.',
    instead: 'Copy it to staging or to /tmp there, and let a person put it in place.',
  },
} as const;

type Id = keyof typeof PATTERNS;

interface Target {
  /** All that says which machine it is: host, namespace, context. */
  readonly machine: string;
  readonly path: string;
}

/** The text, with the names of variables where only the running shell knows the value: `$PROD_HOST:/etc/hosts`. */
const said = (word: Word): string => (word.unknown === undefined ? word.text : (word.source ?? word.text));

/** `host:path`, `user@host:path`, `rsync://host/path`, `scp://user@host/path`; not `./a:b`, and no drive. */
function remoteTarget(text: string): Target | undefined {
  const url = /^(?:rsync|scp|sftp|ftps?):\/\/([^/]+)(\/.*)?$/i.exec(text);
  if (url !== null) return { machine: url[1] ?? '', path: url[2] ?? '' };
  const short = /^((?:[^/:@]+@)?(?:\[[^\]]+\]|[^/:]{2,})):{1,2}(.*)$/.exec(text);
  return short === null ? undefined : { machine: short[1] ?? '', path: short[2] ?? '' };
}

/** Nothing runs from these: a temporary folder, and what lies in a home folder itself. */
const ASIDE = /^(?:(?:~|\/home\/[^/]+|\/root|\.)\/?)?[^/]*$|^(?:\/var)?\/tmp(?:\/|$)|^~\/(?:tmp|Downloads)\//;

function judge({ machine, path }: Target, run: Run, hit: Hit<Id>): void {
  const host = machine.replace(/^.*@/, '');
  if (namesTrial(host)) return;
  const folder = path.replace(/\/$/, '');
  if (isMachineFile(path) || (namesProduction(host) && !ASIDE.test(folder)))
    hit('remote-overwrite', { matched: `${run.name} … ${machine}:${path}` });
}

const SCP_TAKES = '-P -i -F -o -c -J -l -S -D -X';

function copies(takes: string): Check<Id> {
  return (run, hit) => {
    const { operands, has } = readOptions(run.args, '--dry-run', { takes });
    if (has('--dry-run') || (run.name === 'rsync' && has('-n'))) return;
    const last = operands.at(-1);
    const target = last === undefined || operands.length < 2 ? undefined : remoteTarget(said(last));
    if (target !== undefined) judge(target, run, hit);
  };
}

/** `kubectl cp FILE [NAMESPACE/]POD:PATH`. */
const intoPod: Check<Id> = (run, hit) => {
  if (isRehearsal(run)) return;
  const { operands, values } = readOptions(run.args, '', { takes: KUBE_TAKES });
  if (!/^(?:cp|rsync)$/.test(operands[0]?.text ?? '')) return;
  const [, pod, path] = /^([^:]{2,}):(.*)$/.exec(said(operands[2] ?? { text: '', glob: false })) ?? [];
  if (pod === undefined || path === undefined || /^[.~]?\//.test(pod)) return;
  const cluster = values('-n', '--namespace', '--context', '--cluster', '--kubeconfig').map(said);
  judge({ machine: [...cluster, pod].join(' '), path }, run, hit);
};

/** What a remote shell writes: `ssh HOST 'cat > /etc/hosts'`, `ssh HOST tee /etc/hosts`. */
const byShell: Check<Id> = (run, hit) => {
  const at = afterOptions(run.args, 0, SSH_TAKES);
  const host = run.args[at];
  if (host === undefined) return;
  const rest = run.args.slice(afterOptions(run.args, at + 1, SSH_TAKES)).map(({ text }) => text);
  const script = rest.length === 0 ? textSeen(run.command.input) : rest.join(' ');
  if (script === undefined) return;
  for (const command of readCommands(script, run.place).commands) {
    if (command.elsewhere === true || /^(?:mkdir|chmod|chown|git|rm|rmdir|unlink)$/.test(command.name))
      continue;
    for (const { path } of writesOf(command)) judge({ machine: said(host), path }, run, hit);
  }
};

/** `put FILE PATH`, as sftp and ftp read it. */
const byCommands: Check<Id> = (run, hit) => {
  const host = readOptions(run.args, '', { takes: `${SCP_TAKES} -b -B -R -s -e -u -f` }).operands[0];
  const given = readOptions(run.args, '', { takes: '-e -c -f -u -p' }).values('-e', '-c');
  const text = [textSeen(run.command.input) ?? '', ...given.map((word) => word.text)].join('\n');
  if (host === undefined) return;
  const machine = said(host)
    .replace(/^\w+:\/\//, '')
    .replace(/[:/].*$/, '');
  for (const [, path = ''] of text.matchAll(
    /(?:^|;)\s*(?:m?put|reput)(?:\s+-\w+)*\s+[^\s;]+\s+(?:-o\s+)?([^\s;]+)/gm,
  ))
    judge({ machine, path }, run, hit);
};

export const remoteCopy = theme(PATTERNS, {
  'scp pscp': copies(SCP_TAKES),
  rsync: copies(RSYNC_TAKES),
  'kubectl oc k kubecolor': intoPod,
  gcloud: (run, hit) => {
    const { operands } = readOptions(run.args, '', { takes: '--project --zone --region --account --port' });
    const at = operands.findIndex(({ text }) => text === 'scp');
    const target = at === -1 || operands.length < at + 3 ? undefined : operands.at(-1);
    const found = target === undefined ? undefined : remoteTarget(said(target));
    if (found !== undefined) judge(found, run, hit);
  },
  'ssh autossh': byShell,
  'sftp ftp lftp': byCommands,
  curl: (run, hit) => {
    const { operands, has } = readOptions(run.args, '--upload-file', { takes: '-T --upload-file -u --user' });
    if (!has('-T', '--upload-file')) return;
    for (const word of operands) {
      const target = remoteTarget(said(word));
      if (target !== undefined) judge(target, run, hit);
    }
  },
});
