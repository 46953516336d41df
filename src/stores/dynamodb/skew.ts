/** AWS refuses a request whose signature is more than five minutes old or in the future, by its own clock. */
const COMPLAINT = /signature expired|signature not yet current|request (timestamp|time) .*skew|too skewed/i;
const STAMPS = /: (\d{8}T\d{6}Z) .*\((\d{8}T\d{6}Z) [-+] \d+ min/;

export function isSkewed({ name, message }: { name: string; message: string }): boolean {
  return (
    /^(RequestTimeTooSkewed|RequestExpired|RequestInTheFuture)(Exception)?$/.test(name) ||
    COMPLAINT.test(message)
  );
}

/**
 * "Signature expired: A is now earlier than B (C - 5 min.)": A is when we signed, by our clock; C is what
 * AWS's clock showed.
 */
export function skewText(message: string): string {
  const [, signed = '', theirs = ''] = STAMPS.exec(message) ?? [];
  const off_ms = stampTime(signed) - stampTime(theirs);
  const off = Number.isNaN(off_ms) ? 'differs too much from' : offText(off_ms);
  return `The clock of this machine ${off} the clock of AWS, which therefore refuses what is signed here. Set the clock, such as with NTP (\`timedatectl set-ntp true\`).`;
}

function offText(off_ms: number): string {
  const minutes = Math.round(Math.abs(off_ms) / 60_000);
  const amount = minutes < 120 ? `${minutes} minutes` : `${(minutes / 60).toFixed(1)} hours`;
  return `is ${amount} ${off_ms < 0 ? 'behind' : 'ahead of'}`;
}

function stampTime(stamp: string): number {
  return Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}
