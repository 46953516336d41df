// Task files as teams write them, and as they go wrong. Made here, the same every time; each with what a reader has to say of it.

export interface Sample {
  readonly name: string;
  readonly text: string;
  /** Nothing: it is a task. Otherwise the first thing that is wrong with it. */
  readonly wrong?: { readonly field: string; readonly line: number };
}

const AGENTS = ['architect', 'backend-dev', 'curator', 'writer_2', 'qa.lead'];
const THEMES = [
  ['login-form', 'Sign in with a one-time code', 'src/login/form.tsx'],
  ['invoice-export', 'Export invoices as CSV', 'src/billing/export.ts'],
  ['glossary', 'Glossary: words for the domain', 'docs/glossary.md'],
  ['retry-policy', "Don't retry what can't succeed", 'src/http/retry.ts'],
  ['db-index', 'Index for orders by day (10x slower now)', 'migrations/0042_orders.sql'],
  ['release-notes', 'Release notes of 2.4', 'CHANGELOG.md'],
] as const;

const DAY = '2026-03-0';

interface Base {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly file: string;
}

const bases: readonly Base[] = THEMES.flatMap(([slug, title, file], theme) =>
  AGENTS.slice(0, 3).map((_, n) => {
    const agent = AGENTS[(theme + n) % AGENTS.length] ?? '';
    return { id: `${DAY}${theme + 1}T0${n}30-${agent}-${slug}`, agent, title, file };
  }),
);

const head = ({ id, agent }: Base, status = 'new') => `id: ${id}\nagent: ${agent}\nstatus: ${status}\n`;

/** Ways in which the same task is written. */
const STYLES: Readonly<Record<string, (base: Base) => string>> = {
  bare: (base) => `${head(base)}artefacts:\n  - ${base.file}\n`,
  usual: (base) => `${head(base)}title: ${JSON.stringify(base.title)}
priority: high
mode: /analysis-mode
artefacts:
  - ${base.file}
  - docs/
context:
  repo: shop
  branch: feature/${base.agent}
  notes:
    - Look at the old one first.
    - "Then: write."
  dependencies: []
created_at: 2026-03-01T09:30:00Z
created_by: ${base.agent}
`,
  american: (base) => `${head(base)}artifacts: [${base.file}, docs/*.md]\n`,
  quoted: (base) =>
    `"id": "${base.id}"\n'agent': '${base.agent}'\n"status": 'new'\n"artefacts": ["${base.file}"]\n`,
  json: ({ id, agent, file, title }) =>
    `${JSON.stringify({ id, agent, status: 'new', artefacts: [file], title })}\n`,
  windows: (base) => `${head(base)}artefacts:\n  - ${base.file}\n`.replaceAll('\n', '\r\n'),
  documented: (base) =>
    `---\n# ${base.title}\n\n${head(base)}\nartefacts: # what to change\n  # the first\n  - ${base.file} # here\n\n# the end\n`,
  started: (base) =>
    `${head(base, 'in_progress')}artefacts: [${base.file}]\nassigned_at: '2026-03-01T10:00:00+01:00'\nstarted_at: 2026-03-01 09:31\n`,
  finished: (base) => `${head(base, 'done')}artefacts: [${base.file}]
completed_at: 2026-03-02
result:
  summary: |
    All of it: status: done
    and # more
  artefacts: [${base.file}]
  next_agent: curator
  next_task_title: "Check ${base.id}"
  next_artefacts:
    - ${base.file}
  next_task_notes: one note
  metrics: {tokens: 1200, minutes: 7.5}
artefacts_not_created:
  - name: notes.md
    rationale: nothing to say
`,
  failed: (base) => `${head(base, 'error')}artefacts: [${base.file}]
error:
  message: "no such table: orders"
  timestamp: 2026-03-01T11:00:00.123Z
  agent: ${base.agent}
  retry_count: 2
  stacktrace: |
    at a
      at b
`,
  template: (base) =>
    `${head(base)}title:\npriority: ~\nartefacts: []\ncontext:\ncreated_at: ''\nassigned_at:\nstarted_at: null\ncompleted_at:\nresult: null\nerror:\n`,
  anchored: (base) =>
    `${head(base, 'done')}artefacts: &files [${base.file}]\nresult: {next_agent: qa, next_artefacts: *files}\n`,
};

/** What goes wrong, always in the same line of a task of six. */
const SIX = (base: Base) =>
  `${head(base)}priority: normal\ncreated_at: 2026-03-01T09:30:00Z\nartefacts: [${base.file}]\n`;

type Fault = readonly [field: string, line: number, spoil: (text: string, base: Base) => string];

const replacing = (from: RegExp, to: string) => (text: string) => text.replace(from, () => to);

const FAULTS: Readonly<Record<string, Fault>> = {
  'no id': ['id', 1, replacing(/^id:.*\n/m, '')],
  'an id with spaces': ['id', 1, replacing(/^id:.*$/m, 'id: my own task')],
  'an id that climbs': ['id', 1, replacing(/^id:.*$/m, 'id: ../../etc/passwd')],
  'a number for an id': ['id', 1, replacing(/^id:.*$/m, 'id: 20260301')],
  'no agent': ['agent', 1, replacing(/^agent:.*\n/m, '')],
  'an empty agent': ['agent', 2, replacing(/^agent:.*$/m, 'agent:')],
  'two agents': ['agent', 2, replacing(/^agent:.*$/m, 'agent: [ann, bob]')],
  'an agent with a slash': ['agent', 2, replacing(/^agent:.*$/m, 'agent: team/ann')],
  'no status': ['status', 1, replacing(/^status:.*\n/m, '')],
  'a status of its own': ['status', 3, replacing(/^status:.*$/m, 'status: todo')],
  'a status in capitals': ['status', 3, replacing(/^status:.*$/m, 'status: New')],
  'a priority of its own': ['priority', 4, replacing(/^priority:.*$/m, 'priority: p1')],
  'a number for a priority': ['priority', 4, replacing(/^priority:.*$/m, 'priority: 1')],
  'a time in words': ['created_at', 5, replacing(/^created_at:.*$/m, 'created_at: last Monday')],
  'a day that is none': ['created_at', 5, replacing(/^created_at:.*$/m, 'created_at: 2026-02-30T00:00:00Z')],
  'a time as a number': ['created_at', 5, replacing(/^created_at:.*$/m, 'created_at: 1772357400')],
  'no artefacts': ['artefacts', 1, replacing(/^artefacts:.*\n/m, '')],
  'a map of artefacts': ['artefacts', 6, replacing(/^artefacts:.*$/m, 'artefacts: {a: b}')],
  'artefacts that are no text': ['artefacts.0', 6, replacing(/^artefacts:.*$/m, 'artefacts: [1, 2]')],
  'a context in words': ['context', 7, (text) => `${text}context: see above\n`],
  'a dependency in words': [
    'context.dependencies.0',
    8,
    (text) => `${text}context:\n  dependencies: [the other one]\n`,
  ],
  'a next agent with a space': ['result.next_agent', 8, (text) => `${text}result:\n  next_agent: the next\n`],
  'a result in words': ['result', 7, (text) => `${text}result: all done\n`],
  'a bracket left open': ['file', 7, replacing(/^artefacts:.*$/m, 'artefacts: [a, b')],
  'a quote left open': ['file', 7, replacing(/^artefacts:.*$/m, 'artefacts: "a')],
  'a tab for spaces': ['file', 8, (text) => `${text}context:\n\trepo: shop\n`],
  'a key twice': ['file', 7, (text) => `${text}status: done\n`],
  'a colon too many': ['file', 4, replacing(/^priority:.*$/m, 'priority: normal: really')],
  'an unknown alias': ['file', 1, replacing(/^artefacts:.*$/m, 'artefacts: *files')],
  'marks of a merge': [
    'file',
    3,
    replacing(/^status:.*$/m, '<<<<<<< HEAD\nstatus: new\n=======\nstatus: done\n>>>>>>> theirs'),
  ],
  'a list of tasks': [
    'file',
    1,
    (text) => `${text.replaceAll(/^/gm, '  ').replace('  id', '- id').trimEnd()}\n`,
  ],
  'another format': ['file', 3, ({ length }) => `# A task of ${length}\n\nPlease do it.\n`],
};

export const samples: readonly Sample[] = [
  ...bases.flatMap((base) =>
    Object.entries(STYLES).map(([style, write]) => ({ name: `${base.id}, ${style}`, text: write(base) })),
  ),
  ...bases.slice(0, 3).flatMap((base) =>
    Object.entries(FAULTS).map(([fault, [field, line, spoil]]) => ({
      name: `${base.id}, ${fault}`,
      text: spoil(SIX(base), base),
      wrong: { field, line },
    })),
  ),
];
