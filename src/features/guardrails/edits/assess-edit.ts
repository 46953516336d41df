import { findSecrets, maskSecrets } from '../../../command-analysis/secrets.ts';
import type { Finding } from '../../trust/index.ts';
import { CONTROL_FILE_PATTERN, isControlFile } from './control-files.ts';
import { credentialFinding } from './credentials.ts';

const FINDINGS_MAX = 20;

/** What is dangerous about writing files with a tool: judged by their names and their new content. */
export function assessEdit(paths: readonly string[], texts: readonly string[]): Finding[] {
  const byName = paths.flatMap((path): Finding[] => {
    if (isControlFile(path, false) || isControlFile(path, true))
      return [{ ...CONTROL_FILE_PATTERN, pattern: 'control-file', matched: maskSecrets(path), file: path }];
    const finding = credentialFinding(path);
    return finding === undefined ? [] : [finding];
  });
  const [file] = paths;
  const byContent = texts.flatMap((text) =>
    findSecrets(text).map(
      ({ kind, line, masked }): Finding => ({
        category: 'credential_modification',
        operation: 'credential_modify',
        pattern: `secret-${kind.replaceAll('_', '-')}`,
        matched: masked,
        reason: 'A secret would be written into a file.',
        instead: 'Read it from the environment or a secret store.',
        ...(paths.length === 1 ? { file } : {}),
        line,
      }),
    ),
  );
  return [...byName, ...byContent].slice(0, FINDINGS_MAX);
}
