import type { ToolFailure } from '../execution-port.ts';
import type { ContainerTool } from './tool.ts';

/** Exit codes of `run` itself, before the container has started. After that, it ends with the agent's own code. */
const NOT_STARTED: Readonly<Record<number, string>> = {
  125: 'could not run the container',
  126: "can't execute the agent's command in the image",
  127: "did not find the agent's command in the image",
};
const KILLED = 137;
const WORDS_CHARS_MAX = 500;

/** The reason of a failure, if the tool failed and not the agent. */
export function explainExit(
  failure: ToolFailure,
  { tool }: Pick<ContainerTool, 'tool'>,
  memory_bytes?: number,
): ToolFailure {
  const reason = reasonOf(failure, tool, memory_bytes);
  return reason === undefined ? failure : { ...failure, reason };
}

function reasonOf({ exit_code, stderr, reason }: ToolFailure, tool: string, memory_bytes?: number) {
  if (exit_code === null || exit_code === 0) return undefined;
  const because = (what: string, words: string) =>
    `${tool} ${what} (exit code ${exit_code}): ${words.slice(0, WORDS_CHARS_MAX)}`;
  const lines = stderr.trimEnd().split('\n');
  // The first process of a container, which starts the agent, has exit codes of its own; podman's ends with 1.
  const init = lines.findLast((line) => /^(ERROR \(catatonit:\d+\)|\[FATAL tini \(\d+\)\])/.test(line));
  if (init !== undefined) return because("can't start the agent's command in the image", init);
  // An agent may end with these codes as well: a shell's "not found" is 127, too. Only the tool starts its
  // last line like this.
  const words = lines.findLast((line) => /^(Error: |docker: )/.test(line));
  const what = NOT_STARTED[exit_code];
  if (what !== undefined && words !== undefined) return because(what, words);
  if (exit_code === KILLED && memory_bytes !== undefined)
    return `${reason} (killed: it may have wanted more than its ${Math.round(memory_bytes / 2 ** 20)} MB of memory)`;
  return undefined;
}
