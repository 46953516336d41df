import { baseName } from '../../command-analysis/shell/word.ts';

/** Folders that a build, a test run or an installation recreates. */
const FOLDERS = new Set(
  [
    'node_modules bower_components jspm_packages .pnpm-store .yarn .npm .parcel-cache .turbo .nx .rush .lerna',
    'dist build out target .next .nuxt .output .svelte-kit .astro .vercel .netlify .docusaurus .angular .expo',
    'storybook-static public/build coverage .nyc_output htmlcov test-results playwright-report .jest .vitest',
    '__pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .hypothesis .venv venv env .eggs site-packages',
    '.ipynb_checkpoints .gradle .mvn .idea .vs .vscode-test obj Debug Release cmake-build-debug cmake-build-release',
    'CMakeFiles _build deps .elixir_ls .bundle .sass-cache .cache .cargo-cache .terraform .serverless .aws-sam',
    'cdk.out DerivedData Pods .dart_tool .pub-cache .stack-work dist-newstyle zig-cache zig-out .zig-cache bazel-out',
    'bazel-bin .bazel-cache vendor/bundle tmp .tmp temp .temp logs .eslintcache .rollup.cache .vite .swc .webpack lib/esm',
    'lib-cov esm cjs generated __generated__ .wrangler .mastra .sst .firebase reports site _site',
  ]
    .join(' ')
    .split(' '),
);
const FOLDER_ENDINGS = /\.(?:egg-info|dSYM|xcarchive|app\.dSYM)$/;
const FILES =
  /\.(?:log|pyc|pyo|o|obj|a|so|class|d|gcda|gcno|gcov|tsbuildinfo|map|min\.js|cache|pid|lock\.bak|profraw|profdata|lcov|out|core|dmp|heapsnapshot|cpuprofile|trace|vsix|tgz|whl|d\.ts\.map)(?:\.\d+)?$|^(?:\.eslintcache|\.stylelintcache|\.DS_Store|Thumbs\.db|lcov\.info|npm-debug\.log.*|yarn-error\.log|\.coverage(?:\..*)?|tsconfig\.tsbuildinfo|.*\.log\.\*?)$/;
const TEMPORARY_FILES = /\.(?:tmp|temp|bak|orig|rej|swp|swo|old|backup)$|~$|^(?:tmp|temp)[._-]|^\.tmp/;

/**
 * Is the path, relative to the workspace, of a kind that is recreated? Patterns count by the names that are
 * written out.
 */
export function isBuildOutput(path: string): boolean {
  const names = path.replace(/(?:\/\*{1,2})+$/, '').split('/');
  const last = names.at(-1) ?? '';
  if (
    names.some(
      (name, index) =>
        FOLDERS.has(name) || FOLDERS.has(`${names[index - 1]}/${name}`) || FOLDER_ENDINGS.test(name),
    )
  )
    return true;
  return FILES.test(last);
}

export function isTemporaryName(path: string): boolean {
  return TEMPORARY_FILES.test(baseName(path.replace(/\*+$/, '')));
}
