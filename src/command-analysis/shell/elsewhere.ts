import { joinedScript } from './launchers.ts';
import { afterOptions, parseOptions } from './program-options.ts';
import { baseName, type Lines, literal, mapWord, textSeen } from './word.ts';
import { runs, script, type Unwrap, type Wrapped } from './wrap.ts';

const there = (wrapped: Wrapped): Wrapped => ({ ...wrapped, itself: true, elsewhere: true });

/** Without a command, a remote shell reads what is piped to it. */
function reads(input: Lines | undefined): Wrapped {
  const text = textSeen(input);
  return { runs: text === undefined ? [] : [{ script: text }] };
}

export const SSH_TAKES = '-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w';

/** A remote shell reads all words as one text. */
const ssh: Unwrap = (words, input) => {
  const host = afterOptions(words, 1, SSH_TAKES);
  const rest = words.slice(afterOptions(words, host + 1, SSH_TAKES));
  const options = parseOptions(words.slice(1, host), { takes: SSH_TAKES });
  const proxies = options.values('-o').flatMap(({ text }) => {
    const command = /^(?:ProxyCommand|LocalCommand)[= ](.+)$/is.exec(text)?.[1];
    return command === undefined ? [] : [{ script: command }];
  });
  // A proxy command runs here; if there is one, nothing is reported about the remote side.
  if (proxies.length > 0) return { runs: proxies, itself: true };
  return there(rest.length === 0 ? reads(input) : joinedScript(rest, 'the script of ssh'));
};

const CONTAINER_TAKES =
  '-e --env --env-file -u --user -w --workdir -v --volume --mount --name --network --net -p --publish --entrypoint -l --label --platform --cpus -m --memory --add-host --hostname -h --gpus --shm-size --index --cidfile --restart --ulimit --device --tmpfs --cap-add --security-opt -f --file --project-directory --profile -c --container -n --namespace --context --kubeconfig --project-name';

/** `docker exec [options] name command`, `docker run [options] image command`, also after `compose`. */
const docker: Unwrap = (words, input) => {
  let at = afterOptions(
    words,
    1,
    '-H --host -c --context -f --file -p --project-name --profile --project-directory',
  );
  if (/^(?:compose|container)$/.test(words[at]?.text ?? ''))
    at = afterOptions(words, at + 1, '-f --file -p --project-name --profile --project-directory');
  if (!/^(?:exec|run)$/.test(words[at]?.text ?? '')) return undefined;
  const target = afterOptions(words, at + 1, CONTAINER_TAKES);
  const [entry] = parseOptions(words.slice(at + 1, target), { takes: CONTAINER_TAKES }).values(
    '--entrypoint',
  );
  const rest = words.slice(target + 1);
  const command = entry === undefined ? rest : [entry, ...rest];
  if (command.length === 0) return there(reads(input));
  // Images named like a program run it: `alpine/git push`.
  const image = mapWord(words[target] ?? literal(''), (text) =>
    baseName(text)
      .replace(/[:@].*$/, '')
      .replace(/-cli$/, ''),
  );
  const own = /^(?:git|kubectl|terraform|aws|helm|psql|gcloud|ansible|rclone)$/.test(image.text);
  return there({ runs: own && entry === undefined ? [{ words: [image, ...rest] }] : runs(command).runs });
};

const kubectl: Unwrap = (words) => {
  const at = afterOptions(words, 1, CONTAINER_TAKES);
  if (!/^(?:exec|run|debug)$/.test(words[at]?.text ?? '')) return undefined;
  const dashes = words.findIndex(({ text }) => text === '--');
  const rest =
    dashes === -1 ? words.slice(afterOptions(words, at + 1, CONTAINER_TAKES) + 1) : words.slice(dashes + 1);
  return there(runs(rest.slice(afterOptions(rest, 0, CONTAINER_TAKES))));
};

/** A script in an option's value, in one of these commands. */
function remote(verbs: RegExp, names: string): Unwrap {
  return (words) => {
    if (
      !verbs.test(
        words
          .slice(1, 5)
          .map(({ text }) => text)
          .join(' '),
      )
    )
      return undefined;
    const [given] = parseOptions(words.slice(1), { takes: names }).values(...names.split(' '));
    if (given !== undefined) return there(script(given, [], 'a script for elsewhere'));
    const dashes = words.findIndex(({ text }) => text === '--');
    return dashes === -1 ? undefined : there(runs(words.slice(dashes + 1)));
  };
}

/** `name exec target command`. */
function inside(verb: RegExp, operands = 1): Unwrap {
  return (words) => {
    const at = afterOptions(words, 1);
    if (!verb.test(words[at]?.text ?? '')) return undefined;
    const rest = words.slice(afterOptions(words, at + 1) + operands);
    return there(runs(rest[0]?.text === '--' ? rest.slice(1) : rest));
  };
}

/** The last word is sent to many machines. */
const textLast: Unwrap = (words) => there(script(words.at(-1), [], 'a script for elsewhere'));

/** Programs that run a command on another machine or in a container. */
export const elsewhere: Readonly<Record<string, Unwrap>> = {
  ssh,
  mosh: ssh,
  autossh: ssh,
  sshpass: (words) => runs(words.slice(afterOptions(words, 1, '-p -f -P'))),
  docker,
  podman: docker,
  nerdctl: docker,
  'docker-compose': docker,
  'podman-compose': docker,
  kubectl,
  oc: kubectl,
  k3s: (words, input, name) =>
    words[1]?.text === 'kubectl' ? kubectl(words.slice(1), input, name) : undefined,
  microk8s: (words, input, name) =>
    words[1]?.text === 'kubectl' ? kubectl(words.slice(1), input, name) : undefined,
  vagrant: remote(/^ssh/, '-c --command'),
  gcloud: remote(/\bssh\b/, '--command'),
  fly: remote(/^(?:ssh|m |machine)/, '-C --command'),
  flyctl: remote(/^(?:ssh|m |machine)/, '-C --command'),
  az: remote(/\bssh|run-command|exec\b/, '--scripts --exec-command'),
  heroku: (words) => {
    if (!/^run(?::|$)/.test(words[1]?.text ?? '')) return undefined;
    const rest = words.slice(afterOptions(words, 2, '-a --app -r --remote -s --size'));
    return there(joinedScript(rest, 'a script for elsewhere'));
  },
  pssh: textLast,
  'parallel-ssh': textLast,
  pdsh: textLast,
  clush: textLast,
  adb: (words) => {
    const at = words.findIndex(({ text }) => text === 'shell');
    return at === -1 ? undefined : there(joinedScript(words.slice(at + 1), 'a script for elsewhere'));
  },
  ansible: (words) => {
    const [text] = parseOptions(words.slice(1), { takes: '-m -a -i -u -e -l -f' }).values('-a');
    return text === undefined ? undefined : there(script(text, [], 'a script for elsewhere'));
  },
  railway: inside(/^(?:run|ssh)$/, 0),
  lxc: inside(/^exec$/),
  incus: inside(/^exec$/),
  multipass: inside(/^exec$/),
  distrobox: inside(/^enter$/),
  toolbox: inside(/^run$/, 0),
  devcontainer: inside(/^exec$/, 0),
  ddev: inside(/^exec$/, 0),
  lando: inside(/^ssh$/, 0),
  sail: inside(/^(?:exec|shell)$/, 0),
};
