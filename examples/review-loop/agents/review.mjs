// A review approves with exactly {}. Everything else is feedback, and the work goes back to its author with it.
import { readFileSync } from 'node:fs';

const { target_artefact } = JSON.parse(readFileSync(0, 'utf8'));
const isGood = target_artefact.payload.includes('Example:');

console.log(
  JSON.stringify({
    artefact_type: 'Review',
    artefact_payload: isGood ? '{}' : 'give an example with a number in it',
    summary: isGood ? 'good' : 'an example is missing',
  }),
);
