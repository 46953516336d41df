import { type Check, isRehearsal, NEVER, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'infrastructure-apply': {
    category: 'infrastructure',
    operation: 'apply_infrastructure',
    reason: 'Machines, networks or data of the running system are changed or replaced.',
    instead: 'Show the plan and let a person apply it.',
  },
  'infrastructure-destroy': {
    category: 'infrastructure',
    operation: 'destroy_infrastructure',
    reason: 'Machines, networks or data of the running system are deleted.',
    instead: 'Ask a person.',
  },
  'infrastructure-state': {
    category: 'infrastructure',
    operation: 'change_infrastructure_state',
    reason: 'The record of what exists is changed; what it forgets nobody manages any more.',
    instead: 'Ask a person.',
  },
  'cluster-change': {
    category: 'infrastructure',
    operation: 'change_cluster',
    reason: 'What runs in the cluster is changed or stopped.',
    instead: 'Show the difference (`kubectl diff`) and let a person or the pipeline apply it.',
  },
  'cluster-delete': {
    category: 'infrastructure',
    operation: 'delete_cluster_resource',
    reason: 'What runs in the cluster is deleted, with data that hangs on it.',
    instead: 'Ask a person.',
  },
  'cloud-delete': {
    category: 'infrastructure',
    operation: 'delete_cloud_resource',
    reason: 'Something in the cloud is deleted or stopped, with the data in it.',
    instead: 'Ask a person.',
  },
  'cloud-change': {
    category: 'infrastructure',
    operation: 'change_cloud_resource',
    reason: 'Who may reach something in the cloud, or how it runs, is changed.',
    instead: 'Ask a person.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const operands = (run: Run, takes = ''): string[] =>
  readOptions(run.args, '', { takes }).operands.map(({ text }) => text);

const terraform: Check<Id> = (run, hit) => {
  const [verb = '', second = ''] = operands(run);
  if (verb === 'apply')
    hit(
      run.texts.some((text) => /^--?destroy$/.test(text)) ? 'infrastructure-destroy' : 'infrastructure-apply',
    );
  else if (verb === 'destroy') hit('infrastructure-destroy');
  else if (/^(?:run-all|run)$/.test(verb)) {
    if (/^(?:apply|destroy)$/.test(second))
      hit(second === 'apply' ? 'infrastructure-apply' : 'infrastructure-destroy');
  } else if (verb === 'workspace' && second === 'delete') hit('infrastructure-state');
  else if (
    (verb === 'state' && /^(?:rm|mv|push|replace-provider)$/.test(second)) ||
    /^(?:taint|untaint|import|force-unlock)$/.test(verb)
  )
    hit('infrastructure-state');
};

export const KUBE_TAKES =
  '-n --namespace --context --kubeconfig --cluster --user -f --filename -l --selector -o --output -c --container -k --kustomize --field-selector --timeout --grace-period --replicas --type -p --patch';

const kubectl: Check<Id> = (run, hit) => {
  if (isRehearsal(run)) return;
  const [verb = '', second = '', third = ''] = operands(run, KUBE_TAKES);
  if (verb === 'delete') hit('cluster-delete');
  else if (verb === 'replace' && run.texts.includes('--force')) hit('cluster-delete');
  else if (
    /^(?:apply|create|replace|patch|edit|scale|autoscale|drain|cordon|taint|label|annotate|set|expose|run)$/.test(
      verb,
    )
  ) {
    if (/^(?:label|annotate|run|expose)$/.test(verb)) return;
    if (verb === 'create' && /^token$/.test(second)) return;
    if (verb === 'apply' && /^view-last-applied$/.test(second)) return;
    hit('cluster-change');
  } else if (verb === 'rollout' && /^(?:undo|restart|pause)$/.test(second)) hit('cluster-change');
  else if (verb === 'config' && /^(?:delete-|unset)/.test(second)) hit('cluster-change');
  else if (verb === 'adm' && /^(?:drain|taint|delete)/.test(`${second} ${third}`)) hit('cluster-change');
};

const helm: Check<Id> = (run, hit) => {
  if (isRehearsal(run)) return;
  const [verb = ''] = operands(run, '-n --namespace -f --values --set --kube-context --version --timeout');
  if (/^(?:uninstall|delete|del|un)$/.test(verb)) hit('cluster-delete');
  else if (/^(?:install|upgrade|rollback)$/.test(verb)) hit('cluster-change');
};

const AWS_LOSS =
  /^(?:delete|terminate|remove|deregister|purge|destroy|disable|stop|reset|revoke|cancel|release|detach|schedule-key-deletion|reboot|batch-delete|empty|rb$)/;
const AWS_CHANGE =
  /^(?:put-bucket|put-object-acl|put-public|put-role|put-user-policy|put-group|attach-|authorize-|modify-|update-(?!kubeconfig)|create-(?:access-key|user|role|policy|login)|run-instances|set-|invoke$|failover|restore-)/;

const aws: Check<Id> = (run, hit) => {
  if (isRehearsal(run, '--dryrun')) return;
  const [service = '', action = '', ...rest] = operands(
    run,
    '--profile --region --output --query --endpoint-url --filters',
  );
  if (/^(?:help)$/.test(action)) return;
  if (service === 'deploy' && action === 'create-deployment') hit('infrastructure-apply');
  if (service === 'route53' && action === 'change-resource-record-sets') hit('cloud-change');
  // A local emulator of the cloud is not production.
  if (run.texts.some((text) => /localhost|127\.0\.0\.1|localstack/.test(text))) return;
  if (service === 's3') {
    const all = run.texts.includes('--recursive') || rest.some((text) => /[*]|\/$/.test(text));
    if (
      action === 'rb' ||
      (action === 'rm' && (all || rest.length > 0)) ||
      (action === 'sync' && run.texts.includes('--delete')) ||
      (action === 'mv' && run.texts.includes('--recursive'))
    )
      hit('cloud-delete');
  } else if (
    service === 'cloudformation' &&
    /^(?:deploy|create-stack|update-stack|execute-change-set)$/.test(action)
  )
    hit('infrastructure-apply');
  else if (service === 'ecs' && /^(?:update-service|run-task)$/.test(action)) hit('infrastructure-apply');
  else if (service === 'lambda' && /^(?:update-function|invoke)/.test(action)) {
    if (action !== 'invoke') hit('infrastructure-apply');
  } else if (service === 'sts' || (service === 'logs' && action === 'filter-log-events')) return;
  else if (AWS_LOSS.test(action) || /-(?:delete|terminate|purge|destroy)-/.test(action)) hit('cloud-delete');
  else if (AWS_CHANGE.test(action)) hit('cloud-change');
};

/** `gcloud compute instances delete x`, `az vm delete`: the verb is the last word before the names. */
function cloud(loss: RegExp, change: RegExp = NEVER, takes = ''): Check<Id> {
  return (run, hit) => {
    if (isRehearsal(run, '--validate-only')) return;
    const said = operands(run, takes).slice(0, 5);
    if (said.some((text) => loss.test(text))) hit('cloud-delete');
    else if (said.some((text) => change.test(text))) hit('cloud-change');
  };
}

const gcloud = cloud(
  /^(?:delete|remove|reset|stop|destroy|suspend|disable|remove-iam-policy-binding|abandon-instances|delete-instances|failover|undelete|rm|truncate|drain)$/,
  /^(?:add-iam-policy-binding|set-iam-policy|resize|update|patch|enable|restore)$/,
  '--project --region --zone --format --filter --account --quiet',
);

const gsutil: Check<Id> = (run, hit) => {
  const [verb = ''] = operands(run, '-h -o -u');
  const many = run.texts.some((text) => /^-[a-zA-Z]*[rRd]/.test(text));
  if (
    verb === 'rb' ||
    (verb === 'rm' && run.args.length > 1) ||
    (verb === 'rsync' && many && run.texts.some((text) => /^-[a-zA-Z]*d/.test(text)))
  )
    hit('cloud-delete');
};

/**
 * Deleting with GraphQL: `mutation { deleteRef(input: …) }`. A single pattern for both words would search on
 * from every match of the first.
 */
function deletesByQuery(text: string): boolean {
  const mutation = text.search(/\bmutation\b/);
  return mutation !== -1 && /\bdelete[A-Z]\w*\s*\(/.test(text.slice(mutation));
}

/** `gh api repos/o/r/git/refs/heads/main -X PATCH -F force=true` */
function movesRef(texts: readonly string[]): boolean {
  return texts.some((text) => /\/git\/refs\//.test(text)) && texts.some((text) => /^force=true$/.test(text));
}

/** A request to delete something, in the words of curl, wget and httpie. */
const DELETES = /(?:-X\s*|--request[ =]|--method[ =])DELETE\b|^(?:-\S+ )*DELETE /i;

export const cloudTools = theme(PATTERNS, {
  'terraform tofu terragrunt': terraform,
  pulumi: (run, hit) => {
    const [verb = '', second = ''] = operands(run, '-s --stack -C --cwd -c --config');
    if (/^(?:up|update|refresh|import)$/.test(verb)) hit('infrastructure-apply');
    else if (/^(?:destroy|down|dn)$/.test(verb) || (verb === 'stack' && second === 'rm'))
      hit('infrastructure-destroy');
    else if (verb === 'state' && second === 'delete') hit('infrastructure-state');
    else if (verb === 'cancel') hit('infrastructure-state');
  },
  'kubectl oc k kubecolor': kubectl,
  'k3s microk8s minikube': (run, hit) => {
    if (run.texts[0] === 'kubectl')
      kubectl({ ...run, args: run.args.slice(1), texts: run.texts.slice(1) }, hit);
  },
  helm,
  helmfile: (run, hit) => {
    const [verb = ''] = operands(run, '-e --environment -f --file -l --selector');
    if (/^(?:destroy|delete)$/.test(verb)) hit('cluster-delete');
    else if (/^(?:apply|sync)$/.test(verb)) hit('cluster-change');
  },
  'skaffold kustomize tilt': (run, hit) => {
    if (run.name === 'skaffold' && /^(?:delete|run|deploy|apply)$/.test(run.texts[0] ?? ''))
      hit('cluster-change');
  },
  'istioctl linkerd velero': (run, hit) => {
    const said = operands(run, '-n --namespace').slice(0, 2).join(' ');
    if (/^(?:uninstall|install|restore create)/.test(said)) hit('cluster-delete');
  },
  eksctl: cloud(/^(?:delete|drain)$/, /^(?:scale|upgrade|create)$/),
  kops: cloud(/^(?:delete|rolling-update)$/, /^(?:update|replace|edit)$/),
  'kubeadm etcdctl': (run, hit) => {
    if (/^(?:reset|del)$/.test(operands(run)[0] ?? '') || /restore/.test(run.texts.join(' ')))
      hit('cluster-delete');
  },
  aws,
  gcloud,
  gsutil,
  bq: (run, hit) => {
    if (/^(?:rm|truncate)$/.test(operands(run)[0] ?? '')) hit('cloud-delete');
  },
  az: cloud(
    /^(?:delete|delete-batch|remove|stop|deallocate|purge|restart|reset|revoke)$/,
    /^(?:update|create-role|set-policy|scale)$/,
    '-g --resource-group -n --name --subscription -o --output --query',
  ),
  'oci ibmcloud aliyun tccli scw hcloud linode-cli vultr-cli exo openstack nova': cloud(
    /^(?:delete|terminate|remove|destroy|rm|stop|poweroff|purge)$/i,
  ),
  govc: cloud(/^(?:vm\.destroy|object\.destroy|vm\.power|datastore\.rm)$/),
  gh: (run, hit) => {
    const said = operands(run, '-R --repo -X --method -f -F -H --jq').slice(0, 2).join(' ');
    const deletes = run.texts.some((text, index) =>
      /^(?:-X|--method)$/.test(text)
        ? /^delete$/i.test(run.texts[index + 1] ?? '')
        : /^(?:-XDELETE|--method=DELETE)$/i.test(text),
    );
    if (
      /^(?:repo (?:delete|archive|rename|transfer)|run delete|cache delete|codespace delete|gist delete|label delete|issue delete|project delete|environment delete)$/.test(
        said,
      )
    )
      hit('cloud-delete');
    else if (
      /^repo edit$/.test(said) &&
      run.texts.some((text) => /visibility|enable-|delete-branch|default-branch/.test(text))
    )
      hit('cloud-change');
    else if (/^api/.test(said) && (deletes || deletesByQuery(run.texts.join(' ')))) hit('cloud-delete');
    // Forced pushes in another form, and a merge that bypasses the rules of the branch.
    else if (/^api/.test(said) && movesRef(run.texts)) hit('cloud-change');
    else if (said === 'repo sync' && run.texts.includes('--force')) hit('cloud-change');
    else if (said === 'pr merge' && run.texts.includes('--admin')) hit('cloud-change');
  },
  glab: (run, hit) => {
    if (
      /^(?:repo|project) (?:delete|archive|transfer)$|^(?:ci|issue|mr) delete$/.test(
        operands(run).slice(0, 2).join(' '),
      )
    )
      hit('cloud-delete');
  },
  'sentry-cli datadog-ci': cloud(/^delete$/),
  consul: (run, hit) => {
    if (/^kv delete/.test(operands(run).slice(0, 2).join(' ')) || run.texts[0] === 'leave')
      hit('cloud-delete');
  },
  'packer vagrant': (run, hit) => {
    if (run.name === 'vagrant' && /^destroy$|^box remove/.test(operands(run).slice(0, 2).join(' ')))
      hit('infrastructure-destroy');
  },
  'kafka-topics kafka-topics.sh': (run, hit) => {
    if (run.texts.some((text) => /^--(?:delete|alter)$/.test(text))) hit('cloud-delete');
  },
  'rabbitmqctl rabbitmqadmin': (run, hit) => {
    if (/^(?:delete|purge|reset|force_reset|stop|stop_app|forget)/.test(operands(run)[0] ?? ''))
      hit('cloud-delete');
  },
  'curl wget http https xh': (run, hit) => {
    const text = run.texts.join(' ');
    if (
      DELETES.test(text) &&
      /https?:\/\/(?:api\.|gitlab\.|[\w.-]+\.(?:amazonaws|googleapis|azure|digitalocean|cloudflare|heroku|vercel|netlify)\.)/.test(
        text,
      )
    )
      hit('cloud-delete');
  },
  cf: (run, hit) => {
    if (/^(?:delete|delete-\w+|purge-service-\w+|d)$/.test(run.texts[0] ?? '')) hit('cloud-delete');
  },
  mc: (run, hit) => {
    if (
      /^(?:rb|mb --force)$/.test(run.texts[0] ?? '') ||
      (run.texts[0] === 'rm' && run.texts.some((text) => /^(?:-r|--recursive|--force)$/.test(text)))
    )
      hit('cloud-delete');
  },
  's3cmd s5cmd': (run, hit) => {
    if (/^(?:rb|del|rm|expire)$/.test(operands(run)[0] ?? '')) hit('cloud-delete');
  },
});
