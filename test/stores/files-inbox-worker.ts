import { stage } from '../../src/stores/files/inbox.ts';

/** One of several processes of one agent, all at the same moment by their clocks. */
const [events = '', count = '0', process_name = ''] = process.argv.slice(2);
for (let n = 0; n < Number(count); n += 1)
  stage(
    events,
    { event_type: 'edge_claim', agent_id: 'anna', feature: `${process_name}-${n}`, edge: 'design→code' },
    { now_ms: () => 1_771_842_600_000 },
  );
