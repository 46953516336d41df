// Reads what it is to do on stdin, prints what it made on stdout: that is all there is to an agent of the board.
import { readFileSync } from 'node:fs';

const { target_artefact, context_chain, rework } = JSON.parse(readFileSync(0, 'utf8'));

let text = `Oars\n\nAn oar is a lever. (The goal was: ${target_artefact.payload})`;
let summary = 'a first draft';
if (rework) {
  // The draft comes back with what the reviewers said about it.
  const wishes = context_chain.filter(({ structural_type }) => structural_type === 'Review');
  text = `${target_artefact.payload}\n\nExample: a sweep oar is 3.7 m long.`;
  summary = `did what was asked: ${wishes.map(({ payload }) => payload).join('; ')}`;
}
console.log(JSON.stringify({ artefact_type: 'Draft', artefact_payload: text, summary }));
