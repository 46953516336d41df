import { refusalOf } from '../../../runtime/answer.ts';
import { inspectTable } from '../../../runtime/store-tools.ts';
import { type DoctorFinding, idle, ok, wrong } from './doctor-finding.ts';

/** The store works without both, so opening it shows neither. */
export async function checkTable(url: string): Promise<DoctorFinding> {
  const mend = `cox dynamodb create-table "${url}"`;
  try {
    const { expires, recoverable } = await inspectTable(url);
    if (expires === false)
      return wrong('table', 'its items never expire, so it only grows', `Run \`${mend}\`.`);
    if (recoverable === false)
      return idle('table', 'no point-in-time recovery: what is lost stays lost', `Run \`${mend}\`.`);
    const unseen = [expires, recoverable].includes(undefined) ? ' (as far as can be seen from here)' : '';
    return ok('table', `expiry and point-in-time recovery are on${unseen}`);
  } catch (error) {
    const { message, remedy } = refusalOf(error);
    return wrong('table', message, remedy);
  }
}
