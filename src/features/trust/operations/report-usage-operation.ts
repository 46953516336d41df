import { isRefusal } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { reportUsage as decide } from '../commands.ts';
import { describeUsage, type UsageState, usageKey } from '../usage.ts';

export interface ReportUsageInput {
  file_reads?: number | undefined;
  files?: string[] | undefined;
}

export const reportUsage = {
  name: 'report_usage',
  group: 'profile',
  verb: 'report-usage',
  summary: 'Count what you are about to read or change against the limits of your profile.',
  route: { method: 'POST', path: '/profiles/usage' },
  mutates: true,
  standard: false,
  examples: ['cox profile report-usage --file-reads 12', 'cox profile report-usage --files src/app.ts'],
  sample: { file_reads: 12 },
  input: async () => (await import('../schemas/profile-schemas.ts')).reportUsage,
  async handle({ file_reads, files = [] }, step) {
    const modifies = new Set<string>();
    for (const [index, file] of files.entries()) {
      const path = step.path(file, `files.${index}`);
      if (typeof path !== 'string') return path;
      modifies.add(path);
    }
    const uses = { file_reads, modifies: modifies.size === 0 ? undefined : [...modifies] };
    const answer = answerOf(await step.run(decide(), uses));
    if (isRefusal(answer)) return answer;
    const key = usageKey(step.caller);
    const { loaded, now_ms } = await step.find({ keys: [key] });
    return { ...answer, used: describeUsage(loaded.get<UsageState>(key)?.state, now_ms) };
  },
} satisfies Operation<ReportUsageInput>;
