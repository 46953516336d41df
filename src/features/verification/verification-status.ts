import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { type Changeset, changesetKey } from '../changesets/index.ts';
import { unknownChangeset } from './route-changeset.ts';
import {
  describeRun,
  listRuns,
  overall,
  type RunState,
  runId,
  runKey,
  runsOfCommit,
} from './verification-run.ts';

interface Found {
  readonly id: string;
  readonly state: RunState;
}

function answered(about: JsonObject, runs: readonly Found[]): JsonObject {
  const status = overall(runs.map(({ state }) => state.status));
  return { success: true, ...about, status, runs: runs.map(({ id, state }) => describeRun(id, state)) };
}

type Find = (needs: Needs) => Promise<{ loaded: Loaded }>;

export async function statusOfCommit(commit_sha: string, find: Find): Promise<JsonObject> {
  const range = runsOfCommit(commit_sha, limits.verification_policies_max + 1);
  const { loaded } = await find({ ranges: [range] });
  const runs = [...listRuns(range, loaded)].sort((a, b) => a.state.policy.tier - b.state.policy.tier);
  return answered({ commit_sha: runs[0]?.state.commit_sha ?? commit_sha }, runs);
}

export async function statusOfChangeset(changeset_id: string, find: Find): Promise<JsonObject | Refusal> {
  const key = changesetKey(changeset_id);
  const changeset = (await find({ keys: [key] })).loaded.get<Changeset>(key)?.state;
  if (changeset === undefined) return unknownChangeset(changeset_id);
  const { routed } = changeset;
  if (routed === undefined) return { success: true, changeset_id, status: 'not_routed', runs: [] };
  const ids = routed.policies.map((policy) => runId(routed.commit_sha, policy));
  const { loaded } = await find({ keys: ids.map(runKey) });
  const runs = ids.flatMap((id) => {
    const record = loaded.get<RunState>(runKey(id));
    return record === undefined ? [] : [{ id, state: record.state }];
  });
  const { commit_sha, trust_level, files_from, undeclared_files } = routed;
  const about = { changeset_id, commit_sha, trust_level, files_from };
  return answered({ ...about, undeclared_files: undeclared_files?.slice() }, runs);
}
