import { type Check, isRehearsal, NEVER, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  deploy: {
    category: 'production_deployment',
    operation: 'deploy',
    reason: 'What users see is replaced.',
    instead: 'Deploy to a preview, and let a person or the pipeline deploy to production.',
  },
  'deploy-remove': {
    category: 'production_deployment',
    operation: 'remove_deployment',
    reason: 'What users see is taken away.',
    instead: 'Ask a person.',
  },
  'deploy-back': {
    category: 'production_deployment',
    operation: 'rollback',
    reason: 'Users get another version at once.',
    instead: 'Ask a person.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const words = (run: Run, takes = ''): string =>
  readOptions(run.args, '', { takes })
    .operands.map(({ text }) => text)
    .slice(0, 4)
    .join(' ');

function verbs(deploy: RegExp, remove: RegExp = NEVER, back: RegExp = NEVER, takes = ''): Check<Id> {
  return (run, hit) => {
    if (isRehearsal(run, '--noop', '--plan', '--no-execute-changeset', '--build-only')) return;
    const said = words(run, takes);
    if (deploy.test(said)) hit('deploy');
    else if (remove.test(said)) hit('deploy-remove');
    else if (back.test(said)) hit('deploy-back');
  };
}

/** It is production only with an option that says so. */
function withOption(option: RegExp, remove: RegExp, back: RegExp = NEVER): Check<Id> {
  return (run, hit) => {
    if (run.texts.some((text) => option.test(text))) hit('deploy');
    else if (remove.test(words(run))) hit('deploy-remove');
    else if (back.test(words(run))) hit('deploy-back');
  };
}

/** Scripts of a project that are named after what they do. */
const SCRIPT =
  /^(?:deploy|release|publish|ship)(?::(?!dry|preview|check|test|local|docs?$|storybook|staging|dev)[\w:-]+)?$|(?:^|[:_-])(?:deploy|release)[:_-]prod(?:uction)?$|^prod(?:uction)?[:_-]deploy$/;

/** Not production, or only a rehearsal. */
const REHEARSED =
  /(?:^|[\s=:-])(?:staging|stage|preview|dev|development|local|test|qa|sandbox|--dry-run|--check|--plan|--help)(?:\s|$)/;

const scripts: Check<Id> = (run, hit) => {
  const said = readOptions(run.args, '', {
    takes: '--filter -F -C --dir --cwd --prefix -w --workspace',
  }).operands.map(({ text }) => text);
  const at = /^(?:run|run-script|rum|urn)$/.test(said[0] ?? '')
    ? 1
    : said[0] === 'workspace'
      ? said[2] === 'run'
        ? 3
        : 2
      : run.name === 'npm'
        ? -1
        : 0;
  const script = at === -1 ? undefined : said[at];
  if (script !== undefined && script !== 'publish' && SCRIPT.test(script) && !isRehearsal(run)) hit('deploy');
};

const make: Check<Id> = (run, hit) => {
  if (isRehearsal(run, '-n', '--just-print', '--recon', '-q')) return;
  const targets = readOptions(run.args, '', { takes: '-C -f -j -I -o -W' }).operands.map(({ text }) => text);
  if (targets.some((target) => SCRIPT.test(target))) hit('deploy');
};

export const deploy = theme(PATTERNS, {
  'vercel vc now': withOption(
    /^--prod(?:uction)?$|^--target=production$/,
    /^(?:remove|rm|project rm|projects rm|alias rm|domains rm|dns rm)\b/,
    /^(?:rollback|promote|alias set)\b/,
  ),
  cf: verbs(/^(?:push|p|restage|restart)\b/),
  'deploy deploy:prod deploy:production release:prod deploy.sh deploy.py release.sh deploy-prod.sh deploy_prod.sh deploy-production.sh ship.sh':
    (run, hit) => {
      if (!REHEARSED.test(run.texts.join(' '))) hit('deploy');
    },
  'bash sh zsh python python3 node': (run, hit) => {
    const file = run.texts.find((text) => !text.startsWith('-')) ?? '';
    const script =
      /(?:^|\/)(?:deploy|release|ship)(?:[-_](?:prod|production|app|all|live))?\.(?:sh|py|js|ts|mjs)$/.test(
        file,
      );
    if (script && !REHEARSED.test(run.texts.join(' '))) hit('deploy');
  },
  'netlify ntl netlify-cli': (run, hit) => {
    const said = words(run, '-d --dir -s --site -m --message -a --auth');
    if (
      /^deploy/.test(said) &&
      run.texts.some((text) => /^(?:--prod|-p|--prodIfUnlocked|--prod-if-unlocked)$/.test(text))
    )
      hit('deploy');
    else if (/^sites:delete|^blobs:delete/.test(said)) hit('deploy-remove');
  },
  'fly flyctl': verbs(
    /^(?:deploy|launch)\b/,
    /^(?:apps? (?:destroy|suspend)|destroy|machines? (?:destroy|stop|remove)|m destroy|volumes? (?:destroy|delete)|postgres|scale count 0|ips release)/,
    /^releases rollback/,
  ),
  heroku: verbs(
    /^(?:container:release|pipelines:promote|ps:restart|ps:scale|maintenance:on)/,
    /^(?:apps:destroy|destroy|addons:destroy|pg:reset|ps:stop|domains:remove|container:rm)/,
    /^(?:rollback|releases:rollback)/,
    '-a --app -r --remote',
  ),
  'serverless sls sst': verbs(/^deploy\b/, /^remove\b/, /^rollback\b/),
  'cdk cdktf aws-cdk cdktf-cli': verbs(/^deploy\b/, /^destroy\b/, /^rollback\b/),
  sam: verbs(/^(?:deploy|sync)\b/, /^delete\b/),
  copilot: verbs(/^(?:deploy|svc deploy|env deploy)/, /^(?:app|svc|env|job) delete/),
  amplify: verbs(/^(?:publish|push)/, /^delete/),
  eb: verbs(/^(?:deploy|create|swap|scale)\b/, /^terminate\b/),
  'ansible-playbook ansible-pull': (run, hit) => {
    if (
      !run.texts.some((text) =>
        /^(?:--check|-C|--syntax-check|--list-tasks|--list-hosts|--list-tags|--version)$/.test(text),
      ) &&
      run.args.length > 0
    )
      hit('deploy');
  },
  'cap mina': verbs(/(?:^|\s)deploy(?!:check)/, NEVER, /(?:^|\s)deploy:rollback/),
  kamal: verbs(/^(?:deploy|redeploy|setup|app boot)/, /^(?:remove|app (?:stop|remove))/, /^rollback/),
  'dep deployer': verbs(/^deploy/, NEVER, /^rollback/),
  gcloud: (run, hit) => {
    const said = words(run, '--project --region --zone --account --configuration');
    if (
      /^(?:(?:alpha|beta) )?(?:app deploy|run deploy|functions deploy|run services (?:update|replace)|run jobs deploy|builds submit.*deploy|deploy )/.test(
        said,
      )
    )
      hit('deploy');
    else if (/^app versions (?:migrate|delete|stop)|^run services update-traffic/.test(said))
      hit('deploy-back');
  },
  'firebase firebase-tools': verbs(
    /^(?:deploy|hosting:clone|appdistribution:distribute)/,
    /^(?:hosting:disable|functions:delete|firestore:delete|database:remove|projects:delete|hosting:sites:delete|apphosting:backends:delete)/,
  ),
  wrangler: verbs(
    /^(?:deploy|publish|pages (?:publish|deploy)|versions deploy)/,
    /^(?:delete|kv:?\s?(?:key|namespace|bulk) delete|r2 (?:bucket|object) delete|d1 delete|pages project delete|queues delete|secret delete)/,
    /^rollback/,
  ),
  railway: verbs(/^(?:up|redeploy)\b/, /^(?:down|delete)\b/),
  render: verbs(/^(?:deploys? create|services? (?:update|restart))/, /^services? delete/),
  doctl: verbs(/^apps (?:create-deployment|update)/, /(?:^| )(?:delete|destroy|rm|d)\b/),
  'surge now gh-pages': (run, hit) => {
    if (run.name === 'surge' && run.texts[0] === 'teardown') hit('deploy-remove');
    else if (run.name !== 'now' && !run.texts.some((text) => /^(?:list|login|whoami|--version)$/.test(text)))
      hit('deploy');
  },
  mkdocs: verbs(/^gh-deploy/),
  convex: verbs(/^deploy\b/),
  'vela dokku caprover': verbs(/(?:^|\s)(?:deploy|ps:rebuild)\b/, /^apps:destroy/),
  argocd: verbs(/^app (?:sync|set)/, /^(?:app|appset|cluster|proj|repo) (?:delete|rm)/, /^app rollback/),
  flux: verbs(/^(?:reconcile|resume)/, /^(?:delete|uninstall|suspend)/),
  'spin waypoint nomad': verbs(
    /^(?:deploy|up|job run|run)\b/,
    /^(?:destroy|job stop|stop|system gc)\b/,
    /^job revert/,
  ),
  pm2: verbs(/^deploy\b/, /^(?:delete|kill) ?(?:all)?$/),
  'npm pnpm yarn bun': scripts,
  'make gmake just task': make,
  gh: verbs(/^workflow run .*(?:deploy|release|prod|publish)/),
  az: verbs(
    /^(?:webapp (?:deploy|up|deployment)|functionapp deploy|containerapp up|staticwebapp|deployment (?:group|sub|tenant|mg) create)/,
  ),
  swa: verbs(/^deploy/),
});
