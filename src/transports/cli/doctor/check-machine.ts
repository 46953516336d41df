import { statSync } from 'node:fs';
import { readOnlyViewSupport } from '../../../child-process/view-support.ts';
import { open } from '../../../index.ts';
import { refusalOf } from '../../../runtime/answer.ts';
import { type BundleState, bundleState } from '../init/bundle.ts';
import { ownPrograms } from '../init/wiring.ts';
import type { Place } from '../program/common.ts';
import { type DoctorFinding, idle, ok, wrong } from './doctor-finding.ts';

const NODE_MAJOR_MIN = 24;

export function checkNode(): DoctorFinding {
  const { version, execPath } = process;
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= NODE_MAJOR_MIN) return ok('node', `${version} (${execPath})`);
  return wrong('node', `${version} is too old`, `Install Node ${NODE_MAJOR_MIN} or newer.`);
}

export function checkBundle(state: BundleState = bundleState()): DoctorFinding {
  const { hook } = ownPrograms();
  if (state === 'fresh') return ok('hook program', hook);
  const problem = state === 'old' ? 'is older than the sources it is made of' : 'is missing';
  return wrong('hook program', `${hook} ${problem}`, 'Run `cox init`, or `npm run build` in the checkout.');
}

/** Nothing is wrong without it: hooks and git hooks work everywhere. */
export async function checkProtection(): Promise<DoctorFinding> {
  const support = await readOnlyViewSupport();
  return support.isThere
    ? ok('protection', 'cox run keeps files that others hold read-only, by the kernel')
    : idle('protection', `cox run can't keep held files read-only here: ${support.why}`, support.remedy);
}

/** Opened like every command does, which checks owner, schema and file system. */
export async function checkStore(place: Place): Promise<DoctorFinding> {
  try {
    const coxswain = await open(place);
    try {
      const { store_url, project } = coxswain;
      const file = store_url.startsWith('sqlite:') ? store_url.slice('sqlite:'.length) : undefined;
      const mode = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.mode;
      if (file !== undefined && mode !== undefined && (mode & 0o077) !== 0 && process.platform !== 'win32')
        return wrong(
          'store',
          `${file} can be read by others (${(mode & 0o777).toString(8)})`,
          `chmod 600 ${file}*`,
        );
      return ok('store', `${withoutPassword(store_url)}, project ${project}`);
    } finally {
      await coxswain.close();
    }
  } catch (error) {
    const { message, remedy } = refusalOf(error);
    return wrong('store', message, remedy);
  }
}

function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^/@:]*):[^/@]*@/, '$1:***@');
}
