import { where } from '../known-places.ts';
import { type Hit, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'chmod-recursive': {
    category: 'overwrite',
    operation: 'change_permissions',
    reason: 'Permissions of a whole tree are changed; nobody remembers what they were.',
    instead: 'Change the files that need it, by name.',
  },
  'world-writable': {
    category: 'overwrite',
    operation: 'change_permissions',
    reason: 'Anybody on the machine may then change these files.',
    instead: 'Give the permission to the user or group that needs it.',
  },
  'machine-down': {
    category: 'infrastructure',
    operation: 'stop_machine',
    reason: 'The machine stops with everything that runs on it.',
    instead: 'Stop the one program that is meant.',
  },
  'kill-everything': {
    category: 'infrastructure',
    operation: 'kill_everything',
    reason: 'Programs of others are ended without a chance to save.',
    instead: 'End the process that you started, by its id.',
  },
  'service-stop': {
    category: 'infrastructure',
    operation: 'stop_service',
    reason: 'A service that others use is stopped or removed.',
    instead: 'Ask whoever runs the service.',
  },
  'crontab-remove': {
    category: 'infrastructure',
    operation: 'remove_schedule',
    reason: 'All scheduled commands of the user are deleted; there is no copy.',
    instead: 'Edit single lines with `crontab -e`.',
  },
  'firewall-flush': {
    category: 'infrastructure',
    operation: 'open_firewall',
    reason: 'The rules that protect the machine are removed.',
    instead: 'Change single rules, or ask a person.',
  },
  'user-remove': {
    category: 'infrastructure',
    operation: 'change_users',
    reason: 'Who may use the machine is changed.',
    instead: 'Ask a person.',
  },
  'package-remove': {
    category: 'infrastructure',
    operation: 'remove_packages',
    reason: 'Software of the machine is removed with its settings.',
    instead: 'Leave installed packages alone, or ask a person.',
  },
} as const;

type Id = keyof typeof PATTERNS;

function permissions(run: Run, hit: Hit<Id>): void {
  // `chmod -x f`: the mode looks like an option.
  const at = run.name === 'chmod' ? run.texts.findIndex((text) => /^-[rwxXst]+$/.test(text)) : -1;
  const args = run.args.filter((_word, index) => index !== at);
  const { has, operands } = readOptions(args, '--recursive --reference --remove-all', {
    takes: '--reference --from -m -x -M -X',
  });
  const recursive = has('-R', '--recursive');
  const bare = at !== -1 || /^(?:setfacl|chattr)$/.test(run.name);
  const mode = at === -1 ? (operands[0]?.text ?? '') : (run.texts[at] ?? '');
  const paths = bare ? operands.filter(({ text }) => !/^[+=-]/.test(text)) : operands.slice(1);
  const open = run.name === 'chmod' && isOpen(mode);
  const places = paths.map((word) => where(run.command, word, run.place));
  const beyond = places.some(
    (each) => each === 'root' || each === 'system' || each === 'outside' || each === 'unknown',
  );
  const whole = paths.some(({ text }) => /^(?:\.|\.\/|\*|\.\.\/?)$/.test(text));
  const narrow = run.name === 'chmod' && !open && !/^-|^[augo]*-|^0+$/.test(mode);
  if (recursive && (beyond || (whole && !narrow))) hit('chmod-recursive');
  else if (open && (recursive || beyond) && places.some((each) => each !== 'temporary'))
    hit('world-writable');
  else if (!recursive && places.some((each) => each === 'system')) hit('chmod-recursive');
  // One by one has the same effect: `find / -exec chmod`.
  else if (run.command.through.includes('find') && beyond) hit('chmod-recursive');
}

/** Can other users write afterwards? */
function isOpen(mode: string): boolean {
  return /^[0-7]?[0-7]{2}[2367]$/.test(mode) || /^(?:[a-z]*[ao][a-z]*)?[+=][rxst]*w/.test(mode);
}

function kill(run: Run, hit: Hit<Id>): void {
  const targets = run.texts.filter(
    (text, index) => !(index === 0 && /^-(?:\w+)$/.test(text) && run.texts.length > 1) && text !== '--',
  );
  if (run.texts.includes('-l')) return;
  if (targets.some((text) => text === '-1' || text === '1')) hit('kill-everything');
}

export const machine = theme(PATTERNS, {
  'chmod chown chgrp setfacl chattr': permissions,
  icacls: ({ texts }, hit) => {
    if (texts.some((text) => /everyone:/i.test(text)) && texts.some((text) => /^\/t$/i.test(text)))
      hit('world-writable');
  },
  'shutdown reboot halt poweroff': ({ texts, name }, hit) => {
    if (
      !texts.some((text) => /^(?:-c|--help|-k|--show)$/.test(text)) &&
      (name !== 'shutdown' || texts.length > 0)
    )
      hit('machine-down');
  },
  'init telinit': ({ texts }, hit) => {
    if (/^[06]$/.test(texts[0] ?? '')) hit('machine-down');
  },
  kill,
  killall5: (_run, hit) => hit('kill-everything'),
  tee: ({ texts }, hit) => {
    if (texts.includes('/proc/sysrq-trigger')) hit('machine-down');
  },
  'pkill killall': ({ texts, name }, hit) => {
    const { operands, has } = readOptions(
      texts.map((text) => ({ text, glob: false })),
      '',
      { takes: '-u -U -s -t -g -P -o' },
    );
    const all = operands.some(({ text }) => /^(?:\.\*?|\^?\.\*\$?|\*)$/.test(text));
    const byUser = has('-u', '-U') && operands.length === 0;
    const machineWide = operands.some(({ text }) =>
      /^(?:systemd|init|sshd|dockerd|postgres|mysqld|Xorg|launchd|containerd)$/.test(text),
    );
    if (all || byUser || machineWide || (name === 'killall' && has('-u'))) hit('kill-everything');
  },
  systemctl: ({ texts, command }, hit) => {
    const verb = texts.find((text) => !text.startsWith('-')) ?? '';
    if (/^(?:reboot|poweroff|halt|kexec|emergency|rescue|suspend|hibernate)$/.test(verb)) hit('machine-down');
    else if (/^(?:stop|disable|mask|kill|isolate|revert)$/.test(verb) && !texts.includes('--user'))
      hit('service-stop');
    // On a remote machine this is what users are working with.
    else if (/^(?:restart|reload|reload-or-restart|try-restart)$/.test(verb) && command.elsewhere === true)
      hit('service-stop');
  },
  service: ({ texts }, hit) => {
    if (texts[1] === 'stop') hit('service-stop');
  },
  launchctl: ({ texts }, hit) => {
    if (/^(?:unload|bootout|remove|disable|kill)$/.test(texts[0] ?? '')) hit('service-stop');
  },
  brew: ({ texts }, hit) => {
    if (texts[0] === 'services' && /^(?:stop|kill)$/.test(texts[1] ?? '')) hit('service-stop');
    else if (/^(?:uninstall|remove|rm)$/.test(texts[0] ?? '')) hit('package-remove');
  },
  crontab: ({ texts }, hit) => {
    if (texts.some((text) => /^-[a-z]*r/.test(text)) || texts.includes('/dev/null')) hit('crontab-remove');
  },
  'iptables ip6tables': ({ texts }, hit) => {
    if (texts.some((text) => /^(?:-F|--flush|-X|--delete-chain|-P|--policy|-D)$/.test(text)))
      hit('firewall-flush');
  },
  nft: ({ texts }, hit) => {
    if (/^(?:flush|delete|destroy)$/.test(texts[0] ?? '')) hit('firewall-flush');
  },
  ufw: ({ texts }, hit) => {
    if (texts.some((text) => /^(?:disable|reset|delete)$/.test(text))) hit('firewall-flush');
  },
  setenforce: ({ texts }, hit) => {
    if (/^(?:0|permissive)$/i.test(texts[0] ?? '')) hit('firewall-flush');
  },
  'userdel deluser groupdel delgroup usermod passwd chpasswd visudo': ({ name, texts }, hit) => {
    if (name !== 'passwd' || !texts.includes('-S')) hit('user-remove');
  },
  'apt apt-get aptitude yum dnf zypper pacman apk snap': ({ name, texts }, hit) => {
    if (texts.some((text) => /^(?:-s|--simulate|--dry-run|--just-print|--assumeno)$/.test(text))) return;
    const verb = texts.find((text) => !text.startsWith('-')) ?? '';
    if (
      /^(?:remove|purge|autoremove|erase|del)$/.test(verb) ||
      (name === 'pacman' && /^-R/.test(texts[0] ?? ''))
    )
      hit('package-remove');
  },
});
