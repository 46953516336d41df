import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessDiff } from '../../../src/features/guardrails/diff/assess-diff.ts';
import {
  namesDisposable,
  namesProduction,
  namesTrial,
} from '../../../src/features/guardrails/environment-names.ts';
import { tabled } from './guard-support.ts';

test('[GUARD-1] names of machines and containers: production beats all others, and a name is more than its letters', () => {
  for (const name of [
    'prod',
    'root@prod-web-02',
    'www.prod.example.com',
    '$PROD_HOST',
    'prod-test',
    'PRD1',
    'live',
  ])
    assert.deepEqual([namesProduction(name), namesTrial(name)], [true, false], name);
  for (const name of [
    'staging',
    'web-stg-01',
    'preprod',
    'non-prod',
    'localhost',
    '127.0.0.1',
    'app.local',
    'qa2',
  ])
    assert.deepEqual(
      [namesProduction(name), namesTrial(name), namesDisposable(name)],
      [false, true, false],
      name,
    );
  for (const name of ['test-pg', 'app_test_db_1', 'e2e-redis', 'tests.db', 'tmp1'])
    assert.deepEqual([namesTrial(name), namesDisposable(name)], [true, true], name);
  for (const name of [
    'latest',
    'contest-db',
    'product',
    'deliver',
    'web',
    'attestation',
    'cicada',
    'reproduce',
  ])
    assert.deepEqual([namesProduction(name), namesTrial(name)], [false, false], name);
});

tabled('[GUARD-1] files of servers, archives over the machine, live payments, backups', [
  ['scp nginx.conf root@prod:/etc/nginx/nginx.conf', 'overwrite_remote_file'],
  ['scp nginx.conf root@web:/etc/nginx/nginx.conf', 'overwrite_remote_file'],
  ['scp app.tgz deploy@web:/srv/app/', ''],
  ['scp app.tgz deploy@prod:/srv/app/', 'overwrite_remote_file'],
  ['scp app.tgz deploy@prod:', ''],
  ['scp app.tgz deploy@preprod:/etc/app/', ''],
  ['scp C:/x.conf D:/etc/x.conf', ''],
  ['rsync -a --dry-run etc/ root@prod:/etc/', ''],
  ['kubectl cp x.conf prod/web-0:/tmp/x.conf', ''],
  ['kubectl cp x.conf prod/web-0:/app/x.conf', 'overwrite_remote_file'],
  ["ssh prod 'cat > /etc/motd'", 'overwrite_remote_file'],
  ["ssh staging 'cat > /etc/motd'", ''],
  ['tar xf x.tar -C /', 'unpack_over_system'],
  ['tar tf x.tar -C /', ''],
  ['tar cf x.tar -C / etc', ''],
  ['tar xf x.tar -C /usr/local', ''],
  ['tar -fx.tar -t', ''],
  ['chroot /mnt tar xf x.tar -C /', ''],
  ['unzip x.zip -d /etc', 'unpack_over_system'],
  ['cpio -idm -D /', 'unpack_over_system'],
  ['dpkg -x x.deb out', ''],
  ['stripe refunds create --charge ch_1 --live', 'move_money'],
  ['stripe refunds create --charge ch_1', ''],
  ['restic forget latest', 'delete_backup'],
  ['restic forget latest -n', ''],
  ['wal-g delete retain 5', ''],
  ['rm backups/app.sql', 'delete_backup'],
  ['rm src/backup/restore.ts', ''],
  ['docker rm -f test-pg', ''],
  ['DOCKER_HOST=ssh://web docker rm -f test-pg', 'remove_container'],
  ['docker rm -f test-pg orders', 'remove_container'],
  ["sqlite3 :memory: 'DROP TABLE x'", ''],
  ["sqlite3 app.db 'DROP TABLE x'", 'drop_table'],
  ["sqlite3 :memory: '.open app.db' 'DROP TABLE x'", 'drop_table'],
  ["duckdb -c 'DROP TABLE x'", ''],
]);

test('[GUARD-1] an image is built by unpacking over its root: no finding in a Dockerfile', async () => {
  const line = '+RUN tar -C / -Jxpf /tmp/s6-overlay-noarch.tar.xz';
  const diff = [
    'diff --git a/Dockerfile b/Dockerfile',
    '--- a/Dockerfile',
    '+++ b/Dockerfile',
    '@@ -1 +1,2 @@',
    ' FROM debian',
    line,
    '',
  ];
  assert.deepEqual(await assessDiff(diff.join('\n')), []);
});
