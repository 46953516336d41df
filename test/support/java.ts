import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const JAVA_VERSION_MIN = 17;
const VERSION_MS_MAX = 20_000;
export const JAVA_PACKAGE = 'openjdk-17-jre-headless';

const HOW = `Install Java ${JAVA_VERSION_MIN} or newer (Debian, Ubuntu: apt-get install ${JAVA_PACKAGE}) or set JAVA_HOME to one.`;

/** The first Java of JAVA_HOME and PATH that is new enough for DynamoDB Local, or a sentence that says why there is none. */
export function findJava(env: NodeJS.ProcessEnv = process.env): { command: string } | { missing: string } {
  const tooOld: string[] = [];
  for (const command of candidates(env)) {
    const version = versionOf(command);
    if (version !== undefined && version >= JAVA_VERSION_MIN) return { command };
    // Without a version it is a stand-in, such as the one macOS has until Java is installed.
    if (version !== undefined) tooOld.push(`${command} is Java ${version}`);
  }
  const found = tooOld.length === 0 ? 'no Java in JAVA_HOME and PATH' : tooOld.join(', ');
  return { missing: `${found}. ${HOW}` };
}

/** Why DynamoDB Local can't run here; undefined: it can. */
export function javaMissing(env?: NodeJS.ProcessEnv): string | undefined {
  const java = findJava(env);
  return 'missing' in java ? java.missing : undefined;
}

function candidates({ JAVA_HOME, PATH }: NodeJS.ProcessEnv): string[] {
  const name = process.platform === 'win32' ? 'java.exe' : 'java';
  const folders = (PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  if (JAVA_HOME) folders.unshift(join(JAVA_HOME, 'bin'));
  return folders.map((folder) => join(folder, name)).filter((file) => existsSync(file));
}

/** `17.0.15` is 17; until Java 8 it was `1.8.0_442`. */
function versionOf(command: string): number | undefined {
  const { stderr } = spawnSync(command, ['-version'], { encoding: 'utf8', timeout: VERSION_MS_MAX });
  const [, major, minor] = /version "(\d+)(?:\.(\d+))?/.exec(stderr ?? '') ?? [];
  if (major === undefined) return undefined;
  return Number(major === '1' ? minor : major);
}
