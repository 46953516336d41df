/**
 * Variables that the tool, or the shell in front of it, reads for itself. An agent's HOME would be taken for
 * the folder of podman's storage, and its PATH would be searched for the runtime.
 */
const READ_BY_THE_TOOL =
  /^(PATH|HOME|USER|LOGNAME|SHELL|ENV|BASH_ENV|IFS|TMPDIR|HOSTNAME|NOTIFY_SOCKET|SSH_AUTH_SOCK|SSL_CERT_\w+|\w+_PROXY|GODEBUG|GOTRACEBACK|GOGC|GOMAXPROCS|GOMEMLIMIT|COX_CONTAINER_TOOL)$|^_?(XDG|DOCKER|BUILDKIT|CONTAINERS?|PODMAN|BUILDAH|STORAGE|REGISTRY|REGISTRIES|DBUS|LISTEN|LD|DYLD|OTEL)(_|$)/i;

export interface ContainerEnvironment {
  /**
   * `--env NAME`: the values come from the tool's own environment, since every user of the machine can read a
   * command line.
   */
  readonly passed: Readonly<Record<string, string>>;
  /** `--env-file`: what must not be in the tool's own environment. Undefined: there is no such variable. */
  readonly file?: string | undefined;
}

/** Answers a sentence if the environment can't be built. */
export function containerEnvironment(
  variables: Readonly<Record<string, string>>,
): ContainerEnvironment | string {
  const passed: Record<string, string> = {};
  const lines: string[] = [];
  for (const [name, value] of Object.entries(variables)) {
    // Podman reads `NAME*` as all variables with this prefix, and would pass on keys that were never meant
    // for the agent.
    if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name))
      return `a container can't be given a variable called ${JSON.stringify(name)}`;
    if (value.includes('\0')) return `the value of ${name} has a NUL in it`;
    if (!READ_BY_THE_TOOL.test(name)) {
      passed[name] = value;
      continue;
    }
    if (/[\n\r]/.test(value)) return `the value of ${name} has more than one line: set it in the image`;
    lines.push(`${name}=${value}\n`);
  }
  return { passed, file: lines.length === 0 ? undefined : lines.join('') };
}
