import { type Check, isRehearsal, NEVER, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  publish: {
    category: 'package_publishing',
    operation: 'publish_package',
    reason: 'A release goes out to everybody, and a version cannot be taken back.',
    instead: 'Try with --dry-run and let a person publish.',
  },
  unpublish: {
    category: 'package_publishing',
    operation: 'unpublish_package',
    reason: 'A release that others depend on disappears or is marked as bad.',
    instead: 'Ask a person.',
  },
  'publish-rights': {
    category: 'package_publishing',
    operation: 'change_publishers',
    reason: 'Who may publish, or what others install, is changed.',
    instead: 'Ask a person.',
  },
  'image-push': {
    category: 'package_publishing',
    operation: 'push_image',
    reason: 'An image that others run is replaced.',
    instead: 'Build it locally and let the pipeline push it.',
  },
} as const;

type Id = keyof typeof PATTERNS;

/** By the first words that are no options; `--dry-run` only asks. */
function verbs(publish: RegExp, unpublish: RegExp = NEVER, rights: RegExp = NEVER, takes = ''): Check<Id> {
  return (run, hit) => {
    if (isRehearsal(run, '-n', '--list', '--no-publish', '--skip-publish', '--skip-upload', '--snapshot'))
      return;
    const words = readOptions(run.args, '', { takes })
      .operands.map(({ text }) => text)
      .slice(0, 5)
      .join(' ');
    if (publish.test(words)) hit('publish');
    else if (unpublish.test(words)) hit('unpublish');
    else if (rights.test(words)) hit('publish-rights');
  };
}

const NODE = verbs(
  /^(?:npm )?publish\b|^workspaces foreach npm publish\b|^workspaces? \S+ (?:npm )?publish\b|^stage publish/,
  /^(?:unpublish|deprecate)\b/,
  /^(?:owner|author|access|dist-tag|token|team) (?:add|rm|remove|grant|revoke|create|destroy|set)\b/,
  '--filter -F -C --dir --cwd --prefix -w --workspace --tag --access --registry --otp --loglevel',
);

const images: Check<Id> = (run, hit) => {
  const { operands, has } = readOptions(run.args, '--push', {
    takes:
      '-f -t --file --tag --build-arg --platform --cache-from --cache-to --target --builder --secret --label -H --context --output -o',
  });
  const words = operands
    .map(({ text }) => text)
    .slice(0, 2)
    .join(' ');
  if (/^(?:image |manifest )?push\b|^compose push/.test(words)) hit('image-push');
  else if (/^(?:buildx )?(?:build|bake)\b/.test(words) && has('--push')) hit('image-push');
};

export const publishing = theme(PATTERNS, {
  'npm pnpm yarn bun cnpm': NODE,
  'vsce ovsx': verbs(/^publish/, /^unpublish/),
  'lerna nx changeset changesets': verbs(/^(?:publish|release(?: publish)?$|release publish)/),
  'semantic-release release-it np release-please standard-version auto': (run, hit) => {
    if (
      /^(?:semantic-release|release-it|np)$/.test(run.name) &&
      !isRehearsal(run, '-d', '--preview', '--ci=false', '--version')
    )
      hit('publish');
  },
  cargo: verbs(
    /^(?:publish|release)\b/,
    /^yank\b/,
    /^owner\b/,
    '-p --package --manifest-path --registry --token --version --vers',
  ),
  gem: verbs(/^push\b/, /^yank\b/, /^owner\b/),
  twine: verbs(/^upload\b/),
  'poetry uv flit hatch pdm rye maturin': verbs(/^(?:publish|upload)\b/),
  'setup.py python python3': (run, hit) => {
    const at = run.texts.findIndex((text) => /(?:^|\/)setup\.py$/.test(text));
    if (at !== -1 && run.texts.slice(at).some((text) => /^(?:upload|register)$/.test(text))) hit('publish');
  },
  'mvn mvnw': (run, hit) => {
    if (
      run.texts.some((text) => /^(?:deploy|release:perform|deploy:deploy)$/.test(text)) &&
      !run.texts.some((text) => /^-Dmaven\.deploy\.skip/.test(text))
    )
      hit('publish');
  },
  'gradle gradlew': (run, hit) => {
    if (isRehearsal(run, '-m')) return;
    if (
      run.texts.some((text) =>
        /(?:^|:)publish(?!.*ToMavenLocal)\w*$|^uploadArchives$|(?:^|:)closeAndRelease/.test(text),
      )
    )
      hit('publish');
  },
  'dotnet nuget': verbs(/^(?:nuget )?push\b/, /^(?:nuget )?delete\b/),
  'mix hex': verbs(/^hex\.publish|^publish/, /^hex\.retire/, /^hex\.owner/),
  pod: verbs(/^(?:trunk push|repo push)/, /^trunk (?:delete|deprecate)/),
  'dart flutter pub': verbs(/^(?:pub )?publish\b/),
  goreleaser: verbs(/^(?:release|publish)?$/),
  helm: verbs(/^push\b/),
  'docker podman buildah nerdctl crane skopeo oras': (run, hit) => {
    images(run, hit);
    if (
      run.name === 'skopeo' &&
      /^(?:copy|sync)$/.test(run.texts[0] ?? '') &&
      run.texts.some((text, index) => index > 1 && text.startsWith('docker://'))
    )
      hit('image-push');
    if (run.name === 'skopeo' && run.texts[0] === 'delete') hit('unpublish');
  },
  'docker-compose': images,
  gh: verbs(/^release (?:create|upload|edit)/, /^release delete/),
  glab: verbs(/^release (?:create|upload)/, /^release delete/),
  'jsr deno': verbs(/^publish\b/),
  'conda anaconda': verbs(/^upload\b/),
  fastlane: verbs(/^(?:release|deliver|supply|pilot|beta|deploy|upload_\w+|\w+ (?:release|deploy|beta))/),
  eas: verbs(/^(?:submit|update)\b/),
  snapcraft: verbs(/^(?:upload|push|release)/),
  'chromatic clasp': verbs(/^(?:deploy|push)/),
  'composer luarocks cabal stack opam': verbs(/^(?:upload|publish)\b/),
});
