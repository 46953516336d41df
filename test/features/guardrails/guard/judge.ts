import { type Assessment, assessCommand, isWarningOnly } from '../../../../src/features/guardrails/assess.ts';
import { excuse, pathsToAsk, type RepositoryFacts } from '../../../../src/features/guardrails/excuse.ts';
import { gatherFacts } from '../../../../src/features/guardrails/git-facts.ts';
import type { Finding } from '../../../../src/features/trust/finding.ts';
import type { Repository } from './repository.ts';
import type { Asked } from './score.ts';

export interface Judge {
  /** What stops the command, after what the repository's state excuses. */
  stops(command: string): Promise<Finding[]>;
  blocks(asked: readonly Asked[]): Promise<boolean[]>;
  /** Those that are stopped, but not for the danger they are labelled with. */
  otherwiseNamed(asked: readonly Asked[]): Promise<Asked[]>;
}

/** Our guardrails as a hook asks them: the command, and git about what it would remove. */
export function openJudge({ root, home }: Repository): Judge {
  const place = { cwd: root, home, root };
  // Nothing writes to the repository meanwhile: what git said of a path stays true.
  const known = new Map<string, Promise<RepositoryFacts>>();
  const factsFor = (assessment: Assessment): Promise<RepositoryFacts> => {
    const key = pathsToAsk(assessment, place).join('\0');
    const facts = known.get(key) ?? gatherFacts(assessment, place);
    known.set(key, facts);
    return facts;
  };
  const stops = async (command: string): Promise<Finding[]> => {
    const assessment = assessCommand(command, place);
    const { findings } = excuse(assessment, place, await factsFor(assessment));
    return findings.filter((finding) => !isWarningOnly(finding));
  };
  return {
    stops,
    async blocks(asked) {
      const blocked: boolean[] = [];
      for (const { command } of asked) blocked.push((await stops(command)).length > 0);
      return blocked;
    },
    async otherwiseNamed(asked) {
      const named: Asked[] = [];
      for (const each of asked) {
        const categories = (await stops(each.command)).map(({ category }): string => category);
        if (categories.length > 0 && !categories.includes(each.category))
          named.push({ ...each, how: categories });
      }
      return named;
    },
  };
}
