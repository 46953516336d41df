import { namesProduction, namesTrial } from '../environment-names.ts';
import { type Check, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'live-payment': {
    category: 'infrastructure',
    operation: 'move_money',
    reason: 'Real money is moved, or a customer’s contract is changed.',
    instead: 'Use the test mode and a test key, and let a person do it with the live one.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const LIVE_KEY = /\b[sr]k_live_|\blive_[A-Za-z0-9]{20}/;
const TEST_KEY = /\b(?:[sr]k_)?test_/;
/** They only read, or wait for events. */
const LOOKS =
  /^(?:list|retrieve|search|get|logs|listen|login|logout|config|status|open|help|version|samples|completion|resources|trigger|fixtures)$/;

/** What a command line says, with the names of variables instead of values that only the running shell knows. */
const allSaid = ({ args }: Run): string =>
  args.map((word) => (word.unknown === undefined ? word.text : (word.source ?? ''))).join(' ');

const stripe: Check<Id> = (run, hit) => {
  const { operands } = readOptions(run.args, '', {
    takes: '--api-key -d --data -e --expand -p --project-name --config --color --log-level --device-name',
  });
  const [resource = '', verb = ''] = operands.map(({ text }) => text);
  if (LOOKS.test(resource) || verb === '' || LOOKS.test(verb)) return;
  const key = [...(run.command.variables.get('STRIPE_API_KEY') ?? []), ...run.args];
  const isLive =
    run.texts.some((text) => /^--live(?:=(?!false).*)?$/.test(text)) ||
    key.some(({ text }) => LIVE_KEY.test(text));
  if (isLive) hit('live-payment');
};

const STRIPE = /\bapi\.stripe\.com\/v\d+\//;
const STRIPE_MONEY =
  /\bapi\.stripe\.com\/v\d+\/(?:refunds|payouts|transfers|topups|charges|subscriptions|disputes|payment_intents\/\w+\/(?:capture|cancel))\b/;
/** The live addresses of others; their test addresses are other hosts. */
const OTHERS_MONEY =
  /\b(?:api(?:-m)?\.paypal\.com|connect\.squareup\.com|api\.gocardless\.com|api\.braintreegateway\.com|[\w-]+-live\.adyen(?:payments)?\.com)\/\S*(?:refund|payout|payment|transfer|capture|void|cancel)/i;

/** Does the request change something? In the words of curl, wget and httpie. */
function isWrite({ name, texts }: Run): boolean {
  const text = texts.join(' ');
  const method = /(?:^|\s)(?:-X\s*|--request[ =]|--method[ =])([A-Za-z]+)/.exec(text)?.[1];
  if (method !== undefined) return !/^(?:get|head|options)$/i.test(method);
  if (/^(?:http|https|xh)$/.test(name))
    return texts.some((each) => /^(?:post|put|patch|delete)$/i.test(each) || /^[\w[\].]+:?=[^=]/.test(each));
  if (texts.some((each) => /^(?:-G|--get)$/.test(each))) return false;
  return texts.some((each) => /^(?:-d|-F|--data|--form|--json|--post-data|--post-file|--body)/.test(each));
}

const request: Check<Id> = (run, hit) => {
  const said = allSaid(run);
  if (!isWrite(run)) return;
  const isTest = TEST_KEY.test(said) || /\$\{?\w*(?:TEST|SANDBOX)/i.test(said);
  const isLive =
    LIVE_KEY.test(said) || (/\$/.test(said) && namesProduction(said.replaceAll(/https?:\S+/g, '')));
  if (STRIPE.test(said) ? isLive || (STRIPE_MONEY.test(said) && !isTest) : OTHERS_MONEY.test(said))
    hit('live-payment');
  else if (/\bapi\.mollie\.com\//.test(said) && LIVE_KEY.test(said)) hit('live-payment');
};

/** A one-liner with a live key that creates, cancels or captures. */
const code: Check<Id> = (run, hit) => {
  const moves =
    /\b(?:refunds?|payouts?|transfers?|charges?|topups?|subscriptions?)\b[^;]{0,40}\.(?:create|cancel|capture|del(?:ete)?)\b/i;
  if (run.texts.some((text) => text.length < 20_000 && LIVE_KEY.test(text) && moves.test(text)))
    hit('live-payment');
};

export const payments = theme(PATTERNS, {
  stripe,
  'curl wget http https xh': (run, hit) => {
    const host = /https?:\/\/([^/\s]+)/.exec(run.texts.join(' '))?.[1] ?? '';
    if (!namesTrial(host)) request(run, hit);
  },
  'python python3 node ruby php perl deno bun': code,
});
