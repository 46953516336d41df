import type { JsonObject } from '../../../kernel/json.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import { plain } from '../../../transports/cli/output/text.ts';

/** The parts of a claim event that its wording is built from. */
interface Told {
  readonly who: string;
  readonly data: JsonObject;
}

const what = ({ data }: Told) => `${plain(data.edge ?? '')} on ${plain(data.feature ?? '')}`;
const agent = ({ data, who }: Told) =>
  plain(data.granted_to ?? data.agent_id ?? '') === '' ? who : plain(data.granted_to ?? data.agent_id ?? '');
const as = ({ data }: Told) => (typeof data.agent_role === 'string' ? ` as ${plain(data.agent_role)}` : '');
const because = (reason: unknown) =>
  typeof reason === 'string' && reason !== '' ? `: ${plain(reason)}` : '';

/** Events about features and edges, worded for people. */
export const CLAIMS_TOLD: Readonly<Record<string, readonly [(told: Told) => string | undefined, Style?]>> = {
  edge_started: [(told) => `${agent(told)} works on ${what(told)}${as(told)}`, 'cyan'],
  claim_rejected: [
    (told) => `${agent(told)} can’t have ${what(told)}: ${plain(told.data.held_by ?? '')} has it`,
    'yellow',
  ],
  claim_renewed: [(told) => `${agent(told)} is still at ${what(told)}`],
  iteration_completed: [
    (told) =>
      `${agent(told)} did iteration ${plain(told.data.iteration ?? '')} of ${what(told)}${because(told.data.note)}`,
  ],
  edge_converged: [
    (told) => {
      const { approved_by } = told.data;
      const by = approved_by === undefined ? '' : `, approved by ${plain(approved_by)}`;
      return `${agent(told)} finished ${what(told)}${as(told)}${by}`;
    },
    'green',
  ],
  edge_released: [
    (told) =>
      `${what(told)} is free: ${plain(told.data.released_by ?? agent(told))}${because(told.data.reason)}`,
  ],
  claim_expired: [
    ({ who, data }) =>
      `${what({ who, data })} is stale: nothing from ${plain(data.held_by ?? '')} for ${plain(data.seconds_idle ?? '')} s`,
    'red',
  ],
  claim_kept: [
    (told) =>
      `${plain(told.data.kept_by ?? '')} leaves ${what(told)} with its holder${because(told.data.reason)}`,
  ],
  convergence_escalated: [(told) => `${what(told)} waits for a person${because(told.data.reason)}`, 'yellow'],
  review_completed: [
    (told) =>
      `${plain(told.data.reviewed_by ?? '')} ${plain(told.data.decision ?? '')} ${what(told)}${because(told.data.feedback)}`,
  ],
  claim_mode_changed: [
    ({ who, data }) =>
      data.mode === 'single'
        ? `${who} lets one agent work alone`
        : `many agents work here, because of ${who}`,
    'yellow',
  ],
  single_agent_changed: [({ data }) => `${plain(data.agent_id ?? '')} works here alone`],
};
