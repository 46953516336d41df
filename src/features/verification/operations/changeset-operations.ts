import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { changesetRange, listChangesets as list } from '../../changesets/index.ts';
import { rulesFor } from '../../trust/rules/index.ts';
import { routeChangeset, submitChangeset as submit } from '../commands.ts';

export interface ChangesetInput {
  file_paths: string[];
  commit_sha?: string | undefined;
  base?: string | undefined;
  diff?: string | undefined;
  summary?: string | undefined;
}

export const submitChangeset = {
  name: 'submit_changeset',
  group: 'changeset',
  verb: 'submit',
  summary: 'Say which files you changed, and in which commit; answers what will be verified.',
  route: { method: 'POST', path: '/changesets/submit' },
  mutates: true,
  standard: false,
  permission: 'write',
  positional: ['file_paths'],
  unlogged: ['diff'],
  examples: ['cox changeset submit src/app.ts src/router.ts --commit-sha 4f1c2ab --summary "router moved"'],
  input: async () => (await import('../schemas.ts')).submitChangeset,
  async handle({ file_paths, commit_sha, base, diff, summary }, step) {
    const files = new Set<string>();
    for (const [index, file] of file_paths.entries()) {
      const path = step.path(file, `file_paths.${index}`);
      if (typeof path !== 'string') return path;
      files.add(path);
    }
    // Loaded only for a diff: hooks come here too, with none.
    const shown =
      diff === undefined
        ? undefined
        : (await import('../../../command-analysis/secrets.ts')).maskSecrets(diff);
    const { default_trust } = rulesFor(step);
    const changeset = { files: [...files], commit_sha, base_sha: base, diff: shown, summary };
    const decision = submit(step.ids.uuid(), step.caller, changeset, { default_trust });
    return answerOf(await step.run(decision, { modifies: changeset.files }));
  },
} satisfies Operation<ChangesetInput>;

export const verifyChangeset = {
  name: 'verify_changeset',
  group: 'changeset',
  verb: 'verify',
  summary: 'Have a committed change verified as the policies say. What has a result for the commit keeps it.',
  route: { method: 'POST', path: '/changesets/verify' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['changeset_id'],
  examples: ['cox changeset verify 0192a000-… --commit-sha $(git rev-parse HEAD)'],
  input: async () => (await import('../schemas.ts')).verifyChangeset,
  async handle({ changeset_id, commit_sha, force }, step) {
    const is_person = step.authority === 'person';
    const { default_trust } = rulesFor(step);
    const routing = { changeset_id, commit_sha, force, is_person, default_trust };
    return answerOf(await step.run(routeChangeset(routing)));
  },
} satisfies Operation<{ changeset_id: string; commit_sha?: string | undefined; force: boolean }>;

export const listChangesets = {
  name: 'list_changesets',
  group: 'changeset',
  verb: 'list',
  summary: 'What was changed, newest first: of one session, or of all.',
  route: { method: 'POST', path: '/changesets/list' },
  mutates: false,
  standard: false,
  examples: ['cox changeset list --limit 5', 'cox changeset list --agent-name alice --of-session s-1'],
  input: async () => (await import('../schemas.ts')).listChangesets,
  async handle({ agent_name, of_session, limit }, step) {
    const { agent_id } = step.caller;
    const of =
      of_session === undefined ? undefined : { agent_id: agent_name ?? agent_id, session_id: of_session };
    const range = changesetRange(of, limit);
    const { loaded } = await step.find({ ranges: [range] });
    return { success: true, changesets: list(range, loaded) };
  },
} satisfies Operation<{
  agent_name?: string | undefined;
  of_session?: string | undefined;
  limit: number;
}>;
