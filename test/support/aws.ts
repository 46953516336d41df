import { devNull } from 'node:os';

/** Credentials that open nothing, and no way to a developer's own: what the AWS SDK finds during tests. */
export const AWS_FOR_TESTS: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** For a test file run by hand; the processes it starts inherit it. */
export function lendAwsCredentials(): void {
  for (const [name, value] of Object.entries(AWS_FOR_TESTS)) process.env[name] ??= value;
}
