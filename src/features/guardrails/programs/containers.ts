import { isKnown, type Word } from '../../../command-analysis/shell/word.ts';
import { namesDisposable, namesProduction } from '../environment-names.ts';
import { type Hit, isRehearsal, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'container-prune': {
    category: 'infrastructure',
    operation: 'prune_containers',
    reason: 'Everything that does not run this moment is deleted, also what others need.',
    instead: 'Remove what you made, by name.',
  },
  'volume-remove': {
    category: 'infrastructure',
    operation: 'remove_volume',
    reason: 'Volumes hold data that is nowhere else.',
    instead: 'Leave volumes, or ask a person.',
  },
  'container-remove': {
    category: 'infrastructure',
    operation: 'remove_container',
    reason: 'A running container is ended and removed with what is in it.',
    instead: 'Stop it with `docker stop`, then remove it without -f.',
  },
  'image-remove': {
    category: 'infrastructure',
    operation: 'remove_images',
    reason: 'Images that others use are removed.',
    instead: 'Remove what you made, by name.',
  },
  'host-mount': {
    category: 'disk',
    operation: 'mount_host',
    reason: 'The container may change every file of the machine.',
    instead: 'Mount the folder that is needed.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const GLOBAL =
  '-H --host -c --context --config -f --file -p --project-name --profile --project-directory --env-file -l --log-level';

/** A name as it is written: of `$JOB-test` the part that is no variable. */
function namePart(word: Word): string {
  if (isKnown(word)) return word.text;
  const source = word.source ?? '';
  return /^"?[\w.-]*\$\{?\w+\}?[\w.-]+"?$/.test(source) ? source.replace(/\$(?:\{\w+\}|\w+)/, '') : '';
}

/** A daemon on another machine, and names of containers that don't say that they were made to be removed. */
function removesOnlyTestContainers(run: Run): boolean {
  const { operands, has } = readOptions(run.args, '--force --volumes', {
    takes: '-H --host -c --context --connection --url --config --log-level -t --time --cidfile',
  });
  const elsewhere =
    run.command.elsewhere === true ||
    has('-H', '--host', '-c', '--context', '--connection', '--url') ||
    ['DOCKER_HOST', 'DOCKER_CONTEXT', 'CONTAINER_HOST'].some((name) => run.command.variables.has(name));
  if (elsewhere) return false;
  const names = operands.slice(operands[0]?.text === 'container' ? 2 : 1);
  return (
    names.length > 0 &&
    names.every((word) => namesDisposable(namePart(word)) && !namesProduction(word.source ?? ''))
  );
}

function docker(run: Run, hit: Hit<Id>): void {
  if (isRehearsal(run)) return;
  const options = readOptions(run.args, '--volumes --force --rmi', {
    takes: `${GLOBAL} -t --timeout --filter`,
  });
  const said = options.operands.map(({ text }) => text);
  const [first = '', second = ''] = said[0] === 'compose' ? said.slice(1) : said;
  const inCompose = said[0] === 'compose' || /compose/.test(run.name);
  const force = run.texts.some((text) => /^-[a-z]*f[a-z]*$|^--force$/.test(text));
  const volumes = run.texts.some((text) => /^-[a-z]*v[a-z]*$|^--volumes$/.test(text));
  if (inCompose) {
    if (/^(?:down|rm)$/.test(first) && volumes) hit('volume-remove');
    else if (first === 'down' && run.texts.some((text) => /^--rmi/.test(text))) hit('image-remove');
    return;
  }
  if (first === 'run' || first === 'create' || (first === 'container' && second === 'run')) {
    const mounts = readOptions(run.args, '', { takes: '-v --volume --mount' }).values(
      '-v',
      '--volume',
      '--mount',
    );
    if (mounts.some(({ text }) => /^\/:|(?:source|src)=\/(?:,|$)/.test(text))) hit('host-mount');
    return;
  }
  if (first === 'system' && second === 'reset') hit('volume-remove');
  else if (second === 'prune' || first === 'prune') {
    if (/^(?:system|volume)$/.test(first) || volumes)
      hit(first === 'volume' || volumes ? 'volume-remove' : 'container-prune');
    else hit('container-prune');
  } else if (first === 'volume' && /^(?:rm|remove)$/.test(second)) hit('volume-remove');
  else if (/^(?:rm|remove)$/.test(first) || (first === 'container' && /^(?:rm|remove)$/.test(second))) {
    if (removesOnlyTestContainers(run)) return;
    if (volumes) hit('volume-remove');
    else if (force) hit('container-remove');
    else if (options.operands.some((word) => word.unknown !== undefined)) hit('container-remove');
  } else if (/^(?:rmi)$/.test(first) || (first === 'image' && /^(?:rm|remove)$/.test(second))) {
    if (force || options.operands.some((word) => word.unknown !== undefined)) hit('image-remove');
  } else if (/^(?:swarm|stack|service|node|secret|config|network|context|plugin)$/.test(first)) {
    if (/^(?:leave|rm|remove|update|scale|rollback)$/.test(second) && !/^(?:network|context)$/.test(first))
      hit('container-remove');
  } else if (/^(?:kill|stop)$/.test(first) && options.operands.some((word) => word.unknown !== undefined))
    hit('container-remove');
}

export const containers = theme(PATTERNS, {
  'docker podman nerdctl docker-compose podman-compose': docker,
  'lxc incus': (run, hit) => {
    if (
      /^(?:delete|destroy)$/.test(run.texts[0] ?? '') ||
      (run.texts[0] === 'storage' && /delete/.test(run.texts.join(' ')))
    )
      hit('container-remove');
  },
  virsh: (run, hit) => {
    if (/^(?:destroy|undefine|vol-delete|pool-delete|snapshot-delete)$/.test(run.texts[0] ?? ''))
      hit('container-remove');
  },
  'multipass colima lima limactl': (run, hit) => {
    if (/^(?:delete|purge|factory-reset)$/.test(run.texts[0] ?? '')) hit('container-remove');
  },
  'minikube kind k3d': (run, hit) => {
    if (run.texts[0] === 'delete' && run.texts.includes('--all')) hit('container-remove');
  },
});
