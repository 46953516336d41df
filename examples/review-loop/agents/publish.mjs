// Works in a git worktree of its own. A CodeCommit's payload is a commit, which is checked and kept.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const { target_artefact } = JSON.parse(readFileSync(0, 'utf8'));
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).trim();

writeFileSync('oars.md', `${target_artefact.payload}\n`);
git('add', 'oars.md');
git('commit', '--quiet', '--message', 'A page about oars');

console.log(
  JSON.stringify({
    artefact_type: 'CodeCommit',
    artefact_payload: git('rev-parse', 'HEAD'),
    summary: 'oars.md is committed',
    structural_type: 'Terminal', // nobody bids on it: the work ends here
  }),
);
