const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof CODES;

/** Colours a text that is ready to be shown, or leaves it as it is. */
export type Paint = (text: string, style: Style | undefined) => string;

export const noPaint: Paint = (text) => text;

const ansiPaint: Paint = (text, style) => {
  if (style === undefined || text === '') return text;
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};

export function painter(colour: boolean): Paint {
  return colour ? ansiPaint : noPaint;
}

/** An explicit flag counts first, then the user's settings, then whether the output is a terminal. */
export function wantsColour(wish: boolean | undefined, env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (wish !== undefined) return wish;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  if (env.NO_COLOR) return false;
  return isTerminal && env.TERM !== 'dumb';
}

const STATUS_STYLES: Readonly<Record<string, Style>> = {
  active: 'green',
  completed: 'green',
  acquired: 'green',
  claimed: 'cyan',
  pending: 'cyan',
  filed: 'cyan',
  idle: 'yellow',
  delayed: 'yellow',
  blocked: 'yellow',
  skipped: 'yellow',
  disconnected: 'dim',
  cancelled: 'dim',
  failed: 'red',
  dead: 'red',
};

export function statusStyle(word: unknown): Style | undefined {
  return typeof word === 'string' && Object.hasOwn(STATUS_STYLES, word) ? STATUS_STYLES[word] : undefined;
}
