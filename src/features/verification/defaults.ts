import type { VerificationPolicy } from './verification-policy.ts';

/** Words about the code rather than code: nothing that runs can break by them. */
const PROSE = ['**/*.md', '**/*.txt', '**/LICENSE', 'docs/**'];

const SHARED = { required_environment: [], requires_approval: false, link: ['node_modules'] } as const;

/**
 * What ships; a policy of the same name replaces one, and one can be removed. The executors are the seed's; where the first
 * is not set up, a runner does it itself.
 */
export const DEFAULT_POLICIES: readonly VerificationPolicy[] = [
  {
    ...SHARED,
    name: 'static-analysis',
    tier: 0,
    executor: 'inline',
    patterns: ['**'],
    exclude_patterns: PROSE,
    timeout_seconds: 300,
  },
  {
    ...SHARED,
    name: 'unit-tests',
    tier: 1,
    executor: 'github',
    fallback: 'inline',
    workflow: 'cox-verify.yml',
    patterns: ['**'],
    exclude_patterns: PROSE,
    timeout_seconds: 900,
  },
  {
    ...SHARED,
    name: 'integration-tests',
    tier: 2,
    executor: 'ntm',
    fallback: 'inline',
    patterns: [
      '**/api/**',
      '**/routes/**',
      '**/integration/**',
      '**/Dockerfile*',
      '**/docker-compose*',
      '**/compose*.y*ml',
    ],
    exclude_patterns: PROSE,
    timeout_seconds: 1800,
  },
  {
    ...SHARED,
    name: 'database-migrations',
    tier: 3,
    executor: 'ntm',
    fallback: 'inline',
    patterns: [
      '**/migrations/**',
      '**/migrate/**',
      '**/alembic/**',
      '**/*.sql',
      '**/schema.prisma',
      '**/schema.rb',
    ],
    exclude_patterns: [],
    timeout_seconds: 3600,
  },
  {
    ...SHARED,
    name: 'security-sensitive',
    tier: 4,
    executor: 'human',
    patterns: [
      '**/auth/**',
      '**/security/**',
      '**/crypto/**',
      '**/.env*',
      '**/*.env',
      '**/*credential*',
      '**/*secret*',
      '**/*.pem',
      '**/*.key',
      '**/.github/**',
      '**/CODEOWNERS',
      '**/guardrails.yaml',
      '**/teams.yaml',
    ],
    exclude_patterns: [],
    timeout_seconds: 86_400,
  },
];

/** A person looks at every change of an untrusted agent. No policy: it can be neither edited nor removed. */
export const UNTRUSTED_POLICY: VerificationPolicy = {
  ...SHARED,
  name: 'untrusted-change',
  tier: 4,
  executor: 'human',
  patterns: ['**'],
  exclude_patterns: [],
  timeout_seconds: 86_400,
};
