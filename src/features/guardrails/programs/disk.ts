import { isKnown } from '../../../command-analysis/shell/word.ts';
import { type Check, type Hit, type Run, theme } from '../pattern.ts';

const PATTERNS = {
  'disk-write': {
    category: 'disk',
    operation: 'write_disk',
    reason: 'A disk is written directly: everything on it may be lost.',
    instead: 'Write to a file.',
  },
  'disk-format': {
    category: 'disk',
    operation: 'format_disk',
    reason: 'A disk or partition is formatted or divided anew: everything on it is lost.',
    instead: 'Ask a person.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const DEVICE =
  /^\/dev\/(?:r?disk\d|sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|mapper\/|loop\d|sr\d|mem$|kmem$|port$|mtd|by-)/;

/** A device as the target of any redirection. */
export const disksWritten: Check<Id> = ({ command }, hit) => {
  for (const output of command.outputs)
    if (isKnown(output) && DEVICE.test(output.text)) hit('disk-write', { matched: `> ${output.text}` });
};

const format: Check<Id> = (run, hit) => {
  const { texts } = run;
  const device = run.args.some(
    (word) => DEVICE.test(word.text) || word.unknown !== undefined || /^\/dev\//.test(word.text),
  );
  if (device && !texts.some((text) => /^(?:-l|--list|-n|--no-act|--help|-V)$/.test(text))) hit('disk-format');
};

const targets = (run: Run, hit: Hit<Id>): void => {
  if (run.texts.some((text) => DEVICE.test(text.replace(/^of=/, '')))) hit('disk-write');
};

export const disk = theme(PATTERNS, {
  'dd dcfldd ddrescue': (run, hit) => {
    if (run.texts.some((text) => text.startsWith('of=') && DEVICE.test(text.slice(3)))) hit('disk-write');
  },
  'tee cp shred badblocks blkdiscard hdparm mv': (run, hit) => {
    const last = run.texts.at(-1) ?? '';
    if (run.name === 'hdparm') {
      if (run.texts.some((text) => text.startsWith('--security-erase') || text === '--trim-sector-ranges'))
        hit('disk-write');
    } else if (run.name === 'blkdiscard' || DEVICE.test(last)) hit('disk-write');
    else if (run.name === 'tee') targets(run, hit);
  },
  'mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.exfat mke2fs mkswap newfs mkdosfs newfs_apfs newfs_hfs newfs_msdos':
    format,
  wipefs: (run, hit) => {
    // Without these it only lists.
    if (
      run.texts.some((text) => /^(?:-\w*a\w*|--all|-o|--offset.*)$/.test(text)) &&
      !run.texts.includes('-n')
    )
      hit('disk-format');
  },
  'sgdisk sfdisk cfdisk gdisk': format,
  btrfs: ({ texts }, hit) => {
    if (/^(?:subvolume delete|device delete|device remove|check --repair)/.test(texts.slice(0, 2).join(' ')))
      hit('disk-format');
  },
  tmutil: ({ texts }, hit) => {
    if (/^delete/.test(texts[0] ?? '')) hit('disk-format');
  },
  'fdisk parted': (run, hit) => {
    if (!run.texts.some((text) => /^(?:-l|--list|print)$/.test(text)) && run.args.length > 0)
      hit('disk-format');
  },
  diskutil: ({ texts }, hit) => {
    if (
      /^(?:erase|partition|secureErase|zero|random|reformat|apfs|delete)/i.test(texts[0] ?? '') &&
      !/^list$/i.test(texts[1] ?? '')
    )
      hit('disk-format');
  },
  cryptsetup: ({ texts }, hit) => {
    if (/^(?:luksFormat|erase|luksErase|reencrypt)$/.test(texts[0] ?? '')) hit('disk-format');
  },
  'zpool zfs': ({ texts }, hit) => {
    if (/^(?:destroy|labelclear|rollback)$/.test(texts[0] ?? '')) hit('disk-format');
  },
  'lvremove vgremove pvremove lvreduce vgreduce': (_run, hit) => hit('disk-format'),
  mdadm: ({ texts }, hit) => {
    if (texts.some((text) => /^--(?:zero-superblock|create|stop|remove)$/.test(text))) hit('disk-format');
  },
  nvme: ({ texts }, hit) => {
    if (/^(?:format|sanitize)$/.test(texts[0] ?? '')) hit('disk-format');
  },
  'format format.com diskpart': (run, hit) => {
    if (/^[a-z]:/i.test(run.texts[0] ?? '') || run.name === 'diskpart') hit('disk-format');
  },
});
