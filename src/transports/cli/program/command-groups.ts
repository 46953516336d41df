import type { Command } from 'commander';

/**
 * What a group of commands is for, in the overview. A group that is missing here is described by its verbs.
 */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  lock: 'Files, folders, globs: claim them before you change them.',
  work: 'The queue: submit tasks, take them, complete them.',
  claim: 'Features and their edges: who works on which, what comes next.',
  board: 'What is bid on, who works on it, in which phase.',
  artefact: 'What agents made, and what came of it.',
  session: 'Who is here, what they can do, who fell silent.',
  handoff: 'What one session leaves for the next.',
  changeset: 'Which changes belong to which session.',
  verification: 'How changes are verified, and what came of it.',
  draft: 'What agents draft apart, and how it becomes an asset.',
  views: 'Feature files and views, written from the log.',
  task: 'Task files of a work directory: write, start, finish them.',
  mail: 'Letters between agents.',
  team: 'The rules of teams.yaml.',
  port: 'Blocks of ports that nobody else on this machine has.',
  network: 'What agents may reach, and what they tried to.',
  audit: 'The log as evidence: search, verify, archive.',
  guard: 'What is too dangerous: check it first, see what was stopped.',
  approval: 'What waits for a person.',
  profile: 'What agents may do: profiles, trust, limits.',
  key: 'API keys for agents that come over HTTP.',
};

/** What people do first, in that order. */
const FIRST = [
  'init',
  'doctor',
  'status',
  'watch',
  'run',
  'lock',
  'work',
  'handoff',
  'approve',
  'log',
  'demo',
];

/** In the order of the overview. */
const HEADINGS: readonly [heading: string, names: readonly string[]][] = [
  [
    'Look around:',
    ['status', 'watch', 'unearth', 'approve', 'deny', 'stats', 'log', 'diff', 'replay', 'demo'],
  ],
  ['Let agents in:', ['mcp', 'serve', 'up', 'serialise', 'coordinate', 'run', 'proxy', 'hook']],
  ['Ask for something:', ['start', 'forage', ...Object.keys(GROUP_SUMMARIES), 'verify']],
  ['Set up:', ['init', 'doctor', 'git', 'sync', 'dynamodb', 'completion']],
];
const OTHERS = 2;

function placeOf(name: string): { heading: string; order: number } {
  const index = HEADINGS.findIndex(([, names]) => names.includes(name));
  const [heading, names] = HEADINGS[index === -1 ? OTHERS : index] ?? ['Commands:', []];
  const within = names.indexOf(name);
  return { heading, order: (index === -1 ? OTHERS : index) * 100 + (within === -1 ? 99 : within) };
}

/**
 * The overview lists the commands under headings, or only those to begin with. The common options are left out of it: each command shows
 * them, and they would come before the list.
 */
export function arrange(program: Command, all: boolean): void {
  // The same array that the parser searches: only its order changes.
  (program.commands as Command[]).sort((a, b) => placeOf(a.name()).order - placeOf(b.name()).order);
  for (const command of program.commands) command.helpGroup(placeOf(command.name()).heading);
  for (const parent of [program, ...program.commands.filter(({ commands }) => commands.length > 0)])
    parent.configureHelp({
      visibleOptions: () => [],
      visibleCommands: ({ commands }) => (all || parent !== program ? [...commands] : firstOf(commands)),
      subcommandTerm: (command) => command.name(),
    });
}

function firstOf(commands: readonly Command[]): Command[] {
  return FIRST.flatMap(
    (name) => commands.find((command) => command.name() === name)?.helpGroup('To begin with:') ?? [],
  );
}
